import ArgumentParser

struct HouseholdCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "household",
        abstract: "Show the group of machines that share the notes, or leave it.",
        discussion: """
            The first `kith pair` of two machines makes a household; each further one adds a machine to it. Any member may add \
            and revoke machines, and all of them hear of it.

            EXAMPLES
              kith household show
              kith household leave
            """,
        subcommands: [HouseholdShow.self, HouseholdLeave.self])
}
