import ArgumentParser
import KithNotes
import KithReport

extension NoteQuery.Order: ExpressibleByArgument {}

/// Which notes a list shows.
struct ListOptions: ParsableArguments {
    @Option(help: "Only notes with this tag.")
    var tag: String?

    @Option(help: "Only notes of this color.")
    var color: NoteColor?

    @Option(help: "The order; by time, the newest comes first. Without it: updated, or relevance where words are looked for.")
    var order: NoteQuery.Order?

    @Option(help: "How many at most.")
    var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit needs a number from 1 on.") }
    }

    func apply(to query: inout NoteQuery) {
        query.tag = tag.map(NoteTags.tag(typed:))
        query.color = color
        query.order = order ?? (query.text == nil ? .updated : .relevance)
        query.limit = limit
    }
}

struct NoteList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List notes, last changed first.",
        discussion: """
            EXAMPLES
              kith note list
              kith note list --tag home --limit 10
              kith note list --order title --json
            """)

    @OptionGroup var list: ListOptions
    @OptionGroup var options: StoreOptions

    func run() throws {
        var query = NoteQuery()
        list.apply(to: &query)
        query.readsBodies = options.json
        let (found, conflicts, massive) = try options.withNotes(onlyReading: true) { notes in
            (try notes.list(query), try notes.conflicts(), try notes.massDeletions())
        }
        try found.write(to: .output, asJSON: options.json, conflicts: conflicts)
        if !options.json, !massive.isEmpty {
            let names = options.deviceNames()
            for deletion in massive { try Console.error.writeLine(deletion.warning(names)) }
        }
        if found.isEmpty, !options.json, Console.output.isTerminal {
            let isFiltered = list.tag != nil || list.color != nil
            try Console.error.writeLine(isFiltered ? "No such note." : "No notes yet. Add one: kith note add \"Title\" --body \"Text\"")
        }
    }
}
