import ArgumentParser
import KithNotes

struct NoteSearch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "List notes that contain all of the words.",
        discussion: """
            Words are looked for in titles, texts and tags, as parts of words too, whatever the case and the accents; also in titles \
            that another machine wrote at the same time. A note of which several versions are kept is marked with `!`.

            EXAMPLES
              kith note search coffee
              kith note search bread house --tag home
            """)

    @Argument(help: "What to look for.")
    var words: [String]

    @OptionGroup var list: ListOptions
    @OptionGroup var options: StoreOptions

    func run() throws {
        var query = NoteQuery(searching: words.joined(separator: " "))
        list.apply(to: &query)
        query.readsBodies = options.json
        let (found, conflicts) = try options.withNotes { notes in (try notes.list(query), try notes.conflicts()) }
        try found.write(to: .output, asJSON: options.json, conflicts: conflicts)
        if found.isEmpty, !options.json, Console.output.isTerminal {
            try Console.error.writeLine("No note contains that.")
        }
    }
}
