import ArgumentParser
import Kith
import KithNotes

struct NoteShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a note.",
        discussion: """
            EXAMPLES
              kith note show Shopping
              kith note show 8f3a91c2 --body-only > shopping.md
              kith note show Shopping --at 7f3a91c2.12
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @Flag(help: "Print the text alone: byte for byte, but on a terminal without control characters.")
    var bodyOnly = false

    @Option(help: "Show the text as it was; `kith note history` lists the versions.")
    var at: String?

    @OptionGroup var options: StoreOptions

    func run() throws {
        // Notes are shown whatever is wrong with the key or the list.
        let devices = (try? options.trustedDevices()) ?? []
        let (note, version, conflicts, attachments, safety) = try options.withNotes(onlyReading: true) { notes in
            var note = try notes.find(self.note)
            let version = try at.map { try notes.version($0, of: note.id) } ?? notes.bodyVersion(of: note.id)
            let conflicts = at == nil ? try notes.conflicts(of: note) : []
            if at != nil { note.body = try notes.body(of: note.id, at: version) }
            let safety = at == nil && !devices.isEmpty ? try notes.safety(of: note.id, among: devices) : nil
            return (note, version, conflicts, try notes.attachments(of: note.id), safety)
        }
        if options.json {
            return try Console.output.write(json: NoteRecord(note, version: version.description, safety: safety, conflicts: conflicts))
        }
        if bodyOnly { return try Console.output.write(Console.output.isTerminal ? PlainText.block(note.body) : note.body) }
        try write(note, safety, attachments, to: .output)
        if !attachments.isEmpty { try Console.output.writeLine("") }
        try attachments.table.write(to: .output)
        for conflict in conflicts {
            let hint = "The \(conflict.field.rawValue) has \(conflict.versions.count) versions: kith conflicts show \(note.shortID)"
            try Console.error.writeLine(Console.error.styled(hint, .yellow))
        }
    }

    private func write(_ note: Note, _ safety: Safety?, _ attachments: [NoteAttachment], to console: Console) throws {
        let title = note.title.isEmpty ? "(no title)" : PlainText.line(note.title)
        try console.writeLine(console.styled(title, .bold))
        var facts = [console.styled(note.shortID, .dim)]
        if note.isPinned { facts.append("pinned") }
        if note.color != .none { facts.append(console.styled(note.color.name, TextStyle(note.color))) }
        facts += note.tags.map { "#" + PlainText.line($0) }
        facts += [("added", note.createdMilliseconds), ("changed", note.updatedMilliseconds)].compactMap { word, milliseconds in
            TimeText(milliseconds: milliseconds).map { console.styled("\(word) \($0.local)", .dim) }
        }
        try console.writeLine(facts.joined(separator: "  "))
        if let safety {
            let text = safety.label(rows: "Text") { loose in attachments.first { $0.content?.description == loose.id }?.name }
            try console.writeLine(console.styled(PlainText.line(text), safety.names == nil ? .yellow : .dim))
        }
        if note.body.isEmpty { return }
        try console.writeLine("\n" + PlainText.block(note.body.hasSuffix("\n") ? String(note.body.dropLast()) : note.body))
    }
}
