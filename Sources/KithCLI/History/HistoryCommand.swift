import ArgumentParser
import Foundation
import Kith
import KithNotes

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List what was changed, on which machine, newest first.",
        discussion: """
            Changes are kept on this machine for 30 days, from the moment on in which they were made or came here. \
            `kith note history NOTE` lists the versions of a text, which are kept as long as the note.

            EXAMPLES
              kith history
              kith history --device laptop --since yesterday
              kith history --since "2026-11-24 18:30" --json
            """)

    @Option(help: ArgumentHelp("Only what this machine changed: its name, or the beginning of its id.", valueName: "machine"))
    var device: String?

    @Option(help: ArgumentHelp("Since when: \(Moment.help)", valueName: "moment"))
    var since: Moment?

    @Option(help: ArgumentHelp("How many changes at most.", valueName: "n"))
    var limit = 200

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if limit < 1 || limit > 100_000 { throw ValidationError("--limit is from 1 to 100000.") }
    }

    func run() throws {
        let changes = try options.withNotes(onlyReading: true) { notes in
            let authors = try device.map { try options.authors($0, notes) }
            return try notes.changes(since: since?.date ?? .distantPast, devices: authors, limit: limit)
        }
        let names = options.deviceNames()
        if options.json { return try Console.output.write(json: changes.map { NoteChangeRecord($0, names) }) }
        if changes.isEmpty { return try Console.output.writeLine("Nothing was changed\(since == nil ? "" : " since then").") }
        var table = TextTable(header: ["WHEN", "NOTE", "WHAT", "BY"], flexibleColumns: 1, 2)
        table.rows = changes.map { change in
            [
                .init(TimeText(change.date)?.local ?? "unknown", .dim),
                .init(change.title.isEmpty ? "-" : change.title, .bold),
                .init(change.summary), .init(change.device.flatMap { names[$0] } ?? "unknown", .dim),
            ]
        }
        try table.write(to: .output)
    }
}

extension NoteChange {
    /// What became of the note, in a few words.
    var summary: String {
        if kind == .delete { return "deleted" }
        var parts = kind == .insert ? ["added"] : fields.keys.sorted().map(Self.name)
        for (verb, names) in [("attached", attached), ("detached", detached)] where !names.isEmpty {
            parts.append(verb + " " + names.map { "\u{201C}\($0)\u{201D}" }.joined(separator: ", "))
        }
        return parts.isEmpty ? "changed" : parts.joined(separator: ", ")
    }

    private static func name(_ column: String) -> String { ["body": "text", "pinned": "pin", "position": "place"][column] ?? column }
}

/// A change in the JSON that commands print.
private struct NoteChangeRecord: Encodable {
    let id: String
    let title: String
    let kind: String
    let fields: [String]
    let attached: [String]
    let detached: [String]
    /// The machine as people call it; `nil` if that is not known.
    let device: String?
    let when: String?

    init(_ change: NoteChange, _ names: DeviceNames) {
        id = change.note.uuidString.lowercased()
        title = change.title
        kind = change.kind.rawValue
        fields = change.fields.keys.sorted()
        (attached, detached) = (change.attached, change.detached)
        device = change.device.flatMap { names[$0] }
        when = TimeText(change.date)?.iso8601
    }
}
