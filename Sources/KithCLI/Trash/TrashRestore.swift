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
        let author = try from.map(author)
        let restored = try options.withNotes { store in
            guard let author else { return try store.restore(store.findInTrash(notes).map(\.id)) }
            return try store.restoreAll(deletedBy: author)
        }
        if options.json { return try Console.output.write(json: restored.map(NoteRecord.init)) }
        if let from {
            let count = restored.count == 1 ? "1 note" : "\(NodeStatus.grouped(restored.count)) notes"
            return try Console.output.writeLine(
                restored.isEmpty ? "Nothing that \(PlainText.line(from)) deleted is in the trash." : "Restored \(count).")
        }
        for note in restored { try Console.output.writeLine("Restored \(PlainText.line(note.label)).") }
    }

    /// The machine that is meant: one that is trusted, or one that has deleted something.
    private func author(_ reference: String) throws -> Author {
        let trust = try options.trust()
        if reference == "this" || trust.isOwn(reference) { return .own }
        let others = try options.withNotes { try $0.trash().map(\.deletedBy) }
        let matching = Set(others).filter { author in
            guard case .device(let bytes) = author, let id = DeviceID(bytes: bytes) else { return false }
            return trust.device(id) == nil && id.matches(reference)
        }
        if let author = matching.first, matching.count == 1 { return author }
        return .device(try trust.find(reference).id.bytes)
    }
}

extension DeviceID {
    /// Whether a person means it by the beginning of its id.
    fileprivate func matches(_ reference: String) -> Bool {
        reference.count >= 5 && description.lowercased().hasPrefix(reference.lowercased())
    }
}
