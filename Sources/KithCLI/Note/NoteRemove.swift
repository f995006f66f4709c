import ArgumentParser
import KithNotes

struct NoteRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Delete notes, here and on all devices.",
        discussion: """
            All of them, or none if one cannot be found.

            EXAMPLES
              kith note rm Shopping
              kith note rm 8f3a91c2 77ab10e4
            """)

    @Argument(help: "Titles, or beginnings or ends of ids.")
    var notes: [String]

    @OptionGroup var options: StoreOptions

    func run() throws {
        let deleted = try options.withNotes { store in
            let found = try notes.map(store.find)
            try store.delete(found.map(\.id))
            return found
        }
        if options.json { return try Console.output.write(json: deleted.map(NoteRecord.init)) }
        for note in deleted { try Console.output.writeLine("Deleted \(PlainText.line(note.label)).") }
    }
}
