import ArgumentParser
import KithNotes

struct NoteEdit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change a note.",
        discussion: """
            With options, only what they name is written. Without any, $VISUAL or $EDITOR opens with the title in the first \
            line. What others write meanwhile in the text or in other fields stays; if they change the title that you \
            changed, your text is kept in a file and nothing is overwritten.

            A text from a file replaces the text there is, unless --base names the version the file was made from: then \
            what was written since stays.

            EXAMPLES
              kith note edit Shopping
              kith note edit Shopping --title "Shopping list" --add-tag home
              kith note edit 8f3a91c2 --body-file list.md --color green
              kith note edit 8f3a91c2 --body-file list.md --base 7f3a91c2.12
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @Option(parsing: .unconditional, help: "Another title.")
    var title: String?

    @OptionGroup var text: BodyOptions

    @Option(help: "The version of the text that the new one was made from; `kith note show --json` prints it.")
    var base: String?

    @Option(help: "The color.")
    var color: NoteColor?

    @Option(help: "A tag to add; may be given several times.")
    var addTag: [String] = []

    @Option(help: "A tag to remove; may be given several times.")
    var removeTag: [String] = []

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if let title, title.allSatisfy(\.isWhitespace) { throw ValidationError("--title needs a title that can be seen.") }
        if base != nil, text.body == nil, text.bodyFile == nil { throw ValidationError("--base needs --body or --body-file.") }
    }

    func run() throws {
        let body = try text.read()
        let hasOptions = title != nil || body != nil || color != nil || !addTag.isEmpty || !removeTag.isEmpty
        let before = try options.withNotes { try $0.find(note) }
        let after = hasOptions ? try options.withNotes { try edit(before.id, body, $0) } : try open(before)
        if options.json { return try Console.output.write(json: NoteRecord(after)) }
        let fields = after.fieldsThatDiffer(from: before).map(\.rawValue).joined(separator: ", ")
        try Console.output.writeLine(
            fields.isEmpty ? "Nothing changed in \(PlainText.line(after.label))." : "Changed \(fields) of \(PlainText.line(after.label)).")
    }

    private func edit(_ id: Note.ID, _ body: String?, _ notes: NotesStore) throws -> Note {
        guard let base, let body else { return try notes.edit(id) { change(&$0, body) } }
        return try notes.saveBody(body, of: id, base: notes.version(base, of: id)) { change(&$0, nil) }
    }

    private func change(_ note: inout Note, _ body: String?) {
        if let title { note.title = title }
        if let body { note.body = body }
        if let color { note.color = color }
        for tag in addTag { note.tags.insert(NoteTags.tag(typed: tag)) }
        for tag in removeTag { note.tags.remove(NoteTags.tag(typed: tag)) }
    }

    private func open(_ base: Note) throws -> Note {
        try EditedFile.edit(base) { edited in try options.withNotes { try $0.save(edited, base: base) } }
    }
}
