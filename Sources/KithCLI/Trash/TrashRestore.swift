import ArgumentParser
import KithNotes

struct TrashRestore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring notes back, here and on all devices.",
        discussion: """
            All of them, or none if one cannot be found. A note comes back as it was last shown; versions that waited for a \
            choice do not.

            EXAMPLES
              kith trash restore Shopping
              kith trash restore 8f3a91c2 77ab10e4
            """)

    @Argument(help: "Titles, or beginnings or ends of ids.")
    var notes: [String]

    @OptionGroup var options: StoreOptions

    func run() throws {
        let restored = try options.withNotes { store in
            try store.findInTrash(notes).map { try store.restore($0.id) }
        }
        if options.json { return try Console.output.write(json: restored.map(NoteRecord.init)) }
        for note in restored { try Console.output.writeLine("Restored \(PlainText.line(note.label)).") }
    }
}
