import ArgumentParser
import KithNotes

/// What `kith note pin` and `kith note unpin` share.
struct PinnedNotes: ParsableArguments {
    @Argument(help: "Titles, or beginnings or ends of ids.")
    var notes: [String]

    @OptionGroup var options: StoreOptions

    func pin(_ isPinned: Bool) throws {
        let (before, after) = try options.withNotes { store in
            let before = try notes.map(store.find)
            try store.pin(before.map(\.id), isPinned)
            return (before, try before.compactMap { try store.note($0.id) })
        }
        if options.json { return try Console.output.write(json: after.map(NoteRecord.init)) }
        for note in before {
            let label = PlainText.line(note.label)
            try Console.output.writeLine(
                note.isPinned == isPinned
                    ? "\(label) was \(isPinned ? "" : "not ")pinned before." : "\(isPinned ? "Pinned" : "Unpinned") \(label).")
        }
    }
}

struct NotePin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Pin notes: the page and the order by hand show them before all others.",
        discussion: """
            All of the notes are pinned, or none if one cannot be found. It is no edit: the time of the last change stays.

            EXAMPLES
              kith note pin Shopping
              kith note pin Shopping Today
            """)

    @OptionGroup var pinned: PinnedNotes

    func run() throws { try pinned.pin(true) }
}

struct NoteUnpin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin",
        abstract: "Take pins away from notes.",
        discussion: """
            EXAMPLES
              kith note unpin Shopping
            """)

    @OptionGroup var pinned: PinnedNotes

    func run() throws { try pinned.pin(false) }
}
