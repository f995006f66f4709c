import ArgumentParser

struct TrashCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trash",
        abstract: "List and restore notes that were deleted in the last 30 days.",
        discussion: """
            A note that is deleted on one machine is in the trash of all of them.

            EXAMPLES
              kith trash list
              kith trash restore Shopping
              kith trash restore --from laptop
              kith trash empty
            """,
        subcommands: [TrashList.self, TrashRestore.self, TrashAccept.self, TrashEmpty.self])
}
