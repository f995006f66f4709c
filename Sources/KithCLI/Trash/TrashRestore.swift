import ArgumentParser
import Kith
import KithNotes

struct TrashRestore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring notes back, here and on all devices.",
        discussion: """
            All of them, or none if one cannot be found. A note comes back as it was last shown; versions that waited for a \
            choice do not. With --from, all that this machine deleted and that is in the trash.

            EXAMPLES
              kith trash restore Shopping
              kith trash restore 8f3a91c2 77ab10e4
              kith trash restore --from laptop
            """)

    @Argument(help: "Titles, or beginnings or ends of ids.")
    var notes: [String] = []

    @Option(help: ArgumentHelp("What this machine deleted: its name, or the beginning of its id.", valueName: "machine"))
    var from: String?

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if notes.isEmpty == (from == nil) { throw ValidationError("Name notes, or a machine with --from.") }
    }

    func run() throws {
        let restored = try options.withNotes { store in
            guard let from else { return try store.restore(store.findInTrash(notes).map(\.id)) }
            return try store.restoreAll(deletedBy: options.authors(from, store))
        }
        if options.json { return try Console.output.write(json: restored.map(NoteRecord.init)) }
        if let from {
            let count = restored.count == 1 ? "1 note" : "\(NodeStatus.grouped(restored.count)) notes"
            return try Console.output.writeLine(
                restored.isEmpty ? "Nothing that \(PlainText.line(from)) deleted is in the trash." : "Restored \(count).")
        }
        for note in restored { try Console.output.writeLine("Restored \(PlainText.line(note.label)).") }
    }
}
