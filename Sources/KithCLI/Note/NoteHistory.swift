import ArgumentParser
import Kith
import KithNotes
import KithReport

struct NoteHistory: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List the versions of a note's text, newest first.",
        discussion: """
            `kith note show NOTE --at VERSION` prints the text as it was. If it is not known which machine wrote a version, BY \
            shows the beginning of a replica id instead of a name.

            EXAMPLES
              kith note history Shopping
              kith note show Shopping --at 7f3a91c2.12 --body-only
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let versions = try options.withNotes(onlyReading: true) { notes in try notes.history(of: notes.find(note).id) }
        let names = options.deviceNames()
        if options.json { return try Console.output.write(json: versions.map { NoteVersionRecord($0, names) }) }
        var table = TextTable(header: ["VERSION", "WRITTEN", "ADDED", "REMOVED", "BY"], flexibleColumns: 4)
        table.rows = versions.map { version in
            [
                .init(version.shortID, .bold), .init(WrittenTime(version.written).text, .dim),
                .init("+\(version.inserted)"), .init("-\(version.deleted)"),
                .init(names[version.writer] ?? String(version.author.prefix(8)), .dim),
            ]
        }
        try table.write(to: .output)
    }
}

/// A version in the JSON that commands print.
private struct NoteVersionRecord: Encodable {
    let version: String
    let author: String
    /// The author as people call it; `nil` for a store that no machine has said it is.
    let device: String?
    let own: Bool
    /// `nil` if it is not known; then `writtenAtLatest` says what is.
    let written: String?
    let writtenAtLatest: String?
    let inserted: Int
    let deleted: Int

    init(_ version: NoteVersion, _ names: DeviceNames) {
        self.version = version.id.description
        author = version.author
        device = names[version.writer]
        own = version.isOwn
        let time = WrittenTime(version.written)
        written = time.iso8601
        writtenAtLatest = time.latestISO8601
        inserted = version.inserted
        deleted = version.deleted
    }
}
