import ArgumentParser
import KithNotes

struct NoteSearch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "List notes that contain all of the words, best first.",
        discussion: """
            Words are looked for by their beginning in titles, texts and tags, whatever the case and the accents, and if none \
            begins so, as parts of words; also in titles that another machine wrote at the same time. A note of which several versions \
            are kept is marked with `!`. Quotation marks hold words together, a minus leaves out, and tag:, color:, since: and before: \
            ask for more. Behind -- a word may begin with a minus.

            EXAMPLES
              kith note search coffee
              kith note search bread house tag:home
              kith note search -- coffee -decaf
              kith note search '"black coffee" -decaf color:red before:2026-11-01'
            """)

    @Argument(help: "What to look for.")
    var words: [String]

    @OptionGroup var list: ListOptions
    @OptionGroup var options: StoreOptions

    func run() throws {
        let text = words.joined(separator: " ")
        var query = NoteQuery(searching: text)
        list.apply(to: &query)
        query.readsBodies = options.json
        let (found, conflicts) = try options.withNotes(onlyReading: true) { notes in (try notes.list(query), try notes.conflicts()) }
        try found.write(to: .output, asJSON: options.json, conflicts: conflicts)
        for word in SearchText(text).notUnderstood {
            try Console.error.writeLine(
                PlainText.line(
                    "“\(word)” was looked for as it stands: a day is written as 2026-11-01, a color as red. See kith note search --help."))
        }
        if found.isEmpty, !options.json, Console.output.isTerminal {
            try Console.error.writeLine("No note contains that.")
        }
    }
}
