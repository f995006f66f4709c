import ArgumentParser
import KithNotes

struct ViewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "view",
        abstract: "Show, search and write notes on the whole screen; kith alone does it, too.",
        discussion: """
            The list, and beside it the note that is chosen. What other machines write appears by itself. On a window \
            that is narrow, Enter shows the note in the place of the list.

            KEYS
              Up, Down, Page Up, Page Down, Home, End     choose a note
              /          search as you type; Enter keeps what was found, Esc shows all
              Enter      scroll the note; Esc goes back
              e          edit the note in $VISUAL or $EDITOR
              n          write a new note
              d          put the note into the trash; u brings it back
              c          choose between versions written at the same time
              q          quit
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        guard !options.json, let screen = FullScreen(.output) else {
            return try Console.output.writeLine(FirstStart.withoutScreen)
        }
        let folders = try options.folders()
        var settings = folders.notesOptions
        settings.opensReadOnly = true
        let notes = try NotesStore.open(folders.notes, options: settings)
        defer { try? notes.close() }
        try ViewLoop(notes, on: screen, options).run()
    }
}
