import ArgumentParser

struct KithCommand: ParsableCommand {
    /// The version that peers are told.
    static let version = Version.number

    static let configuration = CommandConfiguration(
        commandName: "kith",
        abstract: "Notes that synchronise between your own machines, and nowhere else.",
        discussion: """
            EXAMPLES
              kith                                 all notes on the whole screen
              kith note add "Shopping" --body "Bread, coffee" --tag home
              kith note list
              kith pair                            on both machines: let them trust each other
              kith up                              keep the notes in step, until Ctrl-C

            FILES
              $XDG_DATA_HOME/kith/notes.sqlite    the notes
              $XDG_CONFIG_HOME/kith               the device key, the trusted devices
            With KITH_HOME set, all of it is in that folder. --store PATH names another file \
            for the notes. Exit statuses are listed in cli.md of the documentation.
            """,
        version: Version.described,
        groupedSubcommands: [
            CommandGroup(
                name: "Notes",
                subcommands: [
                    ViewCommand.self, TodayCommand.self, NoteCommand.self, HistoryCommand.self, RevertCommand.self, ConflictsCommand.self,
                    TrashCommand.self,
                ]),
            CommandGroup(
                name: "In and out",
                subcommands: [
                    ImportCommand.self, ExportCommand.self, FolderCommand.self, SnapshotCommand.self, CarryCommand.self, BackupCommand.self,
                    RestoreCommand.self,
                ]),
            CommandGroup(name: "In step", subcommands: [UpCommand.self, WebCommand.self, StatusCommand.self]),
            CommandGroup(name: "Machines", subcommands: [PairCommand.self, DeviceCommand.self, HouseholdCommand.self]),
            CommandGroup(name: "Trouble", subcommands: [DoctorCommand.self, VerifyCommand.self, RecoverCommand.self]),
            CommandGroup(name: "Apps", subcommands: [CheckCommand.self, LabCommand.self]),
        ],
        defaultSubcommand: ViewCommand.self)

    /// Refuses a first word that is no command: it is not meant for the view, which is what kith alone shows.
    static func checkName(_ word: String?) throws(CommandFailure) {
        guard let word, !word.hasPrefix("-") else { return }
        let names = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        if !names.contains(word) {
            throw CommandFailure(.usage, "There is no command \u{201C}\(word)\u{201D}. `kith --help` lists them.")
        }
    }

    /// The help that `error` asks for, without the parser's second word in "NOTES SUBCOMMANDS:".
    static func help(for error: any Error) -> String {
        fullMessage(for: error).replacing(" SUBCOMMANDS:", with: ":")
    }
}
