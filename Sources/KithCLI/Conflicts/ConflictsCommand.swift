import ArgumentParser

struct ConflictsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "Choose between versions that were written at the same time.",
        discussion: """
            When two machines change the same field of a note before they have seen each other, one version is shown and \
            the other is kept until you choose. Bodies merge; where two machines changed the same place of one, both versions \
            of the line are kept until you choose or edit the line. Nothing is lost meanwhile, and nothing waits for you.

            EXAMPLES
              kith conflicts list
              kith conflicts show Shopping
              kith conflicts keep Shopping title 2
            """,
        subcommands: [ConflictsList.self, ConflictsShow.self, ConflictsKeep.self])
}
