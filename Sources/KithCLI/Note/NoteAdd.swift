import ArgumentParser
import Foundation
import KithNotes

struct NoteAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a note and print its id.",
        discussion: """
            Without a title, the first line of the text that is not empty becomes the title. Without a title and a text, $VISUAL or $EDITOR \
            opens.

            EXAMPLES
              kith note add "Shopping" --body "Bread, coffee" --tag home --tag food
              kith note add "Log" --body-file server.log
              date | kith note add "Now" --body -
            """)

    @Argument(help: "One line.")
    var title: String?

    @OptionGroup var text: BodyOptions

    @Option(help: "One word; may be given several times.")
    var tag: [String] = []

    @Option(help: "The color.")
    var color: NoteColor?

    @OptionGroup var options: StoreOptions

    func run() throws {
        let note: Note
        let body = try text.read()
        if let title {
            note = try add(NoteDraft(title: title, body: body ?? ""))
        } else if let body {
            let text = Self.fromFirstWord(body)
            note = try add(NoteDraft(text: text, like: text))
        } else {
            note = try EditedFile.edit("") { try add(NoteDraft(text: Self.fromFirstWord($0))) }
        }
        if options.json { return try Console.output.write(json: NoteRecord(note)) }
        if Console.output.isTerminal { try Console.output.writeLine("Added \u{201C}\(PlainText.line(note.title))\u{201D}.") }
        try Console.output.writeLine(note.id.uuidString.lowercased())
    }

    /// The text without the empty lines at its beginning, unless it has no other: what is looked for in a list is a title. A byte order
    /// mark, which some programs put before a text, is no part of it.
    private static func fromFirstWord(_ text: String) -> String {
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        guard let word = text.firstIndex(where: { !$0.isWhitespace }) else { return text }
        let start = text[..<word].lastIndex(where: \.isNewline).map { text.index(after: $0) } ?? text.startIndex
        return String(text[start...])
    }

    private func add(_ draft: NoteDraft) throws -> Note {
        let tags = NoteTags(tag.map(NoteTags.tag(typed:)))
        return try options.withNotes(makingFile: true) {
            try $0.add(title: draft.title, body: draft.body, color: color ?? .none, tags: tags)
        }
    }
}
