import ArgumentParser
import Kith
import KithNotes

struct TrashList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the notes in the trash, last deleted first.",
        discussion: """
            WHERE says on which machine a note was deleted, UNTIL when it leaves the trash.

            EXAMPLES
              kith trash list
              kith trash list --json
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let found = try options.withNotes { try $0.trash() }
        if options.json { return try Console.output.write(json: found.map(TrashRecord.init)) }
        let names = options.deviceNames()
        var table = TextTable(header: ["ID", "DELETED", "WHERE", "UNTIL", "TITLE"], flexibleColumns: 4)
        table.rows = found.map { trashed in
            [
                .init(trashed.note.shortID, .dim),
                .init(TimeText(milliseconds: trashed.deletedMilliseconds)?.local ?? "unknown", .dim),
                .init(trashed.deletedBy == .own ? "here" : names[trashed.deletedBy] ?? "elsewhere"),
                .init(TimeText(milliseconds: trashed.endMilliseconds).map { String($0.local.prefix(10)) } ?? "unknown", .dim),
                .init(trashed.note.title.isEmpty ? "(no title)" : trashed.note.title, .bold),
            ]
        }
        try table.write(to: .output)
        if found.isEmpty, Console.output.isTerminal { try Console.error.writeLine("The trash is empty.") }
    }
}
