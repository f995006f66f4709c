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
        let changes = try options.withNotes { notes in
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
        switch kind {
        case .insert: "added"
        case .delete: "deleted"
        case .update: fields.isEmpty ? "changed" : fields.keys.sorted().map(Self.name).joined(separator: ", ")
        }
    }

    private static func name(_ column: String) -> String { ["body": "text", "pinned": "pin", "position": "place"][column] ?? column }
}

/// A change in the JSON that commands print.
private struct NoteChangeRecord: Encodable {
    let id: String
    let title: String
    let kind: String
    let fields: [String]
    /// The machine as people call it; `nil` if that is not known.
    let device: String?
    let when: String?

    init(_ change: NoteChange, _ names: DeviceNames) {
        id = change.note.uuidString.lowercased()
        title = change.title
        kind = change.kind.rawValue
        fields = change.fields.keys.sorted()
        device = change.device.flatMap { names[$0] }
        when = TimeText(change.date)?.iso8601
    }
}

extension StoreOptions {
    /// The machine that a person means, under all keys that it had: this one, a trusted one, one that was in the household, or any other
    /// that has written here, by its name or the beginning of its id.
    func authors(_ reference: String, _ notes: NotesStore) throws -> Set<Author> {
        let trust = try trust()
        if reference.isEmpty { throw CommandFailure(.usage, "Name a machine: “this”, or one of kith device list.") }
        if reference == "this" || trust.isOwn(reference) { return [.own] }
        let former = trust.formerMembers
        func keys(of id: DeviceID) -> Set<Author> {
            Set(([id] + former.filter { $0.last == id }.map(\.id)).map { .device($0.bytes) })
        }
        do {
            return keys(of: try trust.find(reference).id)
        } catch let error as CommandFailure where error.status == .noInput {
            let names = trust.deviceNames
            var meant = Set(former.filter { [$0.name, names[$0.id]].contains(reference) }.map(\.last))
            if meant.isEmpty {
                meant = Set(try notes.store.authors().devices.compactMap { DeviceID(bytes: $0) }).filter { $0.matches(reference) }
            }
            if meant.isEmpty { throw error }
            if let id = meant.first, meant.count == 1 { return keys(of: former.first { $0.id == id }?.last ?? id) }
            let ids = meant.map(\.shortDescription).sorted().joined(separator: ", ")
            throw CommandFailure(.data, "“\(reference.prefix(80))” could be any of \(ids). Name one by its id.")
        }
    }
}

extension DeviceID {
    /// Whether a person means it by the beginning of its id.
    fileprivate func matches(_ reference: String) -> Bool {
        let letters = reference.uppercased().filter { $0 != "-" && $0 != " " }
        return letters.count >= 5 && description.filter { $0 != "-" }.hasPrefix(letters)
    }
}
