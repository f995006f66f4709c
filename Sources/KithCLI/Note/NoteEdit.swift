import ArgumentParser
import KithNotes

struct NoteEdit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change a note.",
        discussion: """
            With options, only what they name is written. Without any, $VISUAL or $EDITOR opens with the title in the first \
            line; what others change meanwhile in other fields stays, and if they change the same field, your text is kept \
            in a file and nothing is overwritten.

            EXAMPLES
              kith note edit Shopping
              kith note edit Shopping --title "Shopping list" --add-tag home
              kith note edit 8f3a91c2 --body-file list.md --color green
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @Option(parsing: .unconditional, help: "Another title.")
    var title: String?

    @OptionGroup var text: BodyOptions

    @Option(help: "The color.")
    var color: NoteColor?

    @Option(help: "A tag to add; may be given several times.")
    var addTag: [String] = []

    @Option(help: "A tag to remove; may be given several times.")
    var removeTag: [String] = []

    @OptionGroup var options: StoreOptions

    func run() throws {
        let body = try text.read()
        let hasOptions = title != nil || body != nil || color != nil || !addTag.isEmpty || !removeTag.isEmpty
        let before = try options.withNotes { try $0.find(note) }
        let after = hasOptions ? try options.withNotes { try $0.edit(before.id) { change(&$0, body) } } : try open(before)
        if options.json { return try Console.output.write(json: NoteRecord(after)) }
        let fields = after.fieldsThatDiffer(from: before).map(\.rawValue).joined(separator: ", ")
        try Console.output.writeLine(
            fields.isEmpty ? "Nothing changed in \(PlainText.line(after.label))." : "Changed \(fields) of \(PlainText.line(after.label)).")
    }

    private func change(_ note: inout Note, _ body: String?) {
        if let title { note.title = title }
        if let body { note.body = body }
        if let color { note.color = color }
        for tag in addTag { note.tags.insert(NoteTags.tag(typed: tag)) }
        for tag in removeTag { note.tags.remove(NoteTags.tag(typed: tag)) }
    }

    private func open(_ base: Note) throws -> Note {
        try EditedFile.edit(NoteDraft(title: base.title, body: base.body).text) { text in
            let draft = NoteDraft(text: text, like: base.body)
            var edited = base
            edited.title = draft.title
            edited.body = draft.body
            return try options.withNotes { try $0.save(edited, base: base) }
        }
    }
}
