import ArgumentParser

struct KithCommand: ParsableCommand {
    /// The version that `--version` names and that peers are told.
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "kith",
        abstract: "Notes that synchronise between your own machines, and nowhere else.",
        discussion: """
            EXAMPLES
              kith note add "Shopping" --body "Bread, coffee" --tag home
              kith note list
              kith pair                            on both machines: let them trust each other
              kith up                              keep the notes in step, until Ctrl-C

            FILES
              $XDG_DATA_HOME/kith/notes.sqlite    the notes
              $XDG_CONFIG_HOME/kith               the device key, the trusted devices
            With KITH_HOME set, all of it is in that folder. --store PATH names another file \
            for the notes. Exit statuses are listed in docs/cli.md.
            """,
        version: version,
        subcommands: [
            NoteCommand.self, PairCommand.self, DeviceCommand.self, HouseholdCommand.self, UpCommand.self, StatusCommand.self,
            ConflictsCommand.self, TrashCommand.self, VerifyCommand.self, RecoverCommand.self, DoctorCommand.self, LabCommand.self,
            ImportCommand.self, ExportCommand.self, FolderCommand.self, BackupCommand.self, RestoreCommand.self,
        ])
}
