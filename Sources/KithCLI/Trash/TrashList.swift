import ArgumentParser
import Kith
import KithNotes
import KithReport

struct TrashList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the notes in the trash, last deleted first.",
        discussion: """
            WHERE says on which machine a note was deleted, UNTIL when it leaves the trash. "said by" a machine: it did not show \
            the deletion, but says that the note is gone. "kept": until you have said whether a large deletion was meant.

            EXAMPLES
              kith trash list
              kith trash list --json
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let (found, massive) = try options.withNotes(onlyReading: true) { (try $0.trash(), try $0.massDeletions()) }
        if options.json { return try Console.output.write(json: found.map(TrashRecord.init)) }
        let names = options.deviceNames()
        for deletion in massive { try Console.error.writeLine(deletion.warning(names)) }
        var table = TextTable(header: ["ID", "DELETED", "WHERE", "UNTIL", "TITLE"], flexibleColumns: 4)
        table.rows = found.map { trashed in
            [
                .init(trashed.note.shortID, .dim),
                .init(TimeText(milliseconds: trashed.deletedMilliseconds)?.local ?? "unknown", .dim),
                .init(Self.place(of: trashed, names)),
                .init(Self.end(of: trashed), .dim),
                .init(trashed.note.title.isEmpty ? "(no title)" : trashed.note.title, .bold),
            ]
        }
        try table.write(to: .output)
        if found.isEmpty, Console.output.isTerminal { try Console.error.writeLine("The trash is empty.") }
    }

    private static func end(of trashed: TrashedNote) -> String {
        guard let end = trashed.endMilliseconds else { return "kept" }
        return TimeText(milliseconds: end).map { String($0.local.prefix(10)) } ?? "unknown"
    }

    private static func place(of trashed: TrashedNote, _ names: DeviceNames) -> String {
        if trashed.isOnlySaid { return "said by \(names[trashed.deletedBy] ?? "another device")" }
        return trashed.deletedBy == .own ? "here" : names[trashed.deletedBy] ?? "elsewhere"
    }
}
