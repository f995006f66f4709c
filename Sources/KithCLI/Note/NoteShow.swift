import ArgumentParser
import KithNotes

struct NoteShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a note.",
        discussion: """
            EXAMPLES
              kith note show Shopping
              kith note show 8f3a91c2 --body-only > shopping.md
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @Flag(help: "Print the text alone, byte for byte.")
    var bodyOnly = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        let (note, conflicts, attachments) = try options.withNotes { notes in
            let note = try notes.find(self.note)
            return (note, try notes.conflicts(of: note), try notes.attachments(of: note.id))
        }
        if options.json { return try Console.output.write(json: NoteRecord(note)) }
        if bodyOnly { return try Console.output.write(note.body) }
        try write(note, to: .output)
        if !attachments.isEmpty { try Console.output.writeLine("") }
        try attachments.table.write(to: .output)
        for conflict in conflicts {
            let hint = "The \(conflict.field.rawValue) has \(conflict.versions.count) versions: kith conflicts show \(note.shortID)"
            try Console.error.writeLine(Console.error.styled(hint, .yellow))
        }
    }

    private func write(_ note: Note, to console: Console) throws {
        let title = note.title.isEmpty ? "(no title)" : PlainText.line(note.title)
        try console.writeLine(console.styled(title, .bold))
        var facts = [console.styled(note.shortID, .dim)]
        if note.color != .none { facts.append(console.styled(note.color.name, TextStyle(note.color))) }
        facts += note.tags.map { "#" + PlainText.line($0) }
        facts += [("added", note.createdMilliseconds), ("changed", note.updatedMilliseconds)].compactMap { word, milliseconds in
            TimeText(milliseconds: milliseconds).map { console.styled("\(word) \($0.local)", .dim) }
        }
        try console.writeLine(facts.joined(separator: "  "))
        if note.body.isEmpty { return }
        try console.writeLine("\n" + PlainText.block(note.body.hasSuffix("\n") ? String(note.body.dropLast()) : note.body))
    }
}
