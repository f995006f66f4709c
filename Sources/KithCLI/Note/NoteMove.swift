import ArgumentParser
import KithNotes

struct NoteMove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Put notes into another place of the order by hand.",
        discussion: """
            `kith note list --order hand` shows that order. All of the notes go there, together and in the order in which you name \
            them, or none if one cannot be found.

            EXAMPLES
              kith note move Shopping --first
              kith note move Shopping Today --before "Some day"
            """)

    @Argument(help: "Titles, or beginnings or ends of ids.")
    var notes: [String]

    @Flag(help: "Before all others that are pinned, or not, as it is.")
    var first = false

    @Flag(help: "After all others.")
    var last = false

    @Option(help: ArgumentHelp("Right before this note.", valueName: "note"))
    var before: String?

    @Option(help: ArgumentHelp("Right after this note.", valueName: "note"))
    var after: String?

    @OptionGroup var options: StoreOptions

    func validate() throws {
        let places = [first, last, before != nil, after != nil].count { $0 }
        if places != 1 { throw ValidationError("Say where: --first, --last, --before NOTE or --after NOTE.") }
    }

    func run() throws {
        let moved = try options.withNotes { store in
            let found = try notes.map(store.find)
            let place: NotePlace =
                if let before { .before(try store.find(before).id) } else if let after { .after(try store.find(after).id) } else {
                    first ? .first : .last
                }
            try store.move(found.map(\.id), to: place)
            return found
        }
        if options.json { return try Console.output.write(json: moved.map(NoteRecord.init)) }
        for note in moved { try Console.output.writeLine("Moved \(PlainText.line(note.label)).") }
    }
}
