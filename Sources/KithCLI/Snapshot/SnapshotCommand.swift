import ArgumentParser
import Foundation
import Kith
import KithNotes

struct SnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Write a list of notes or open tasks to a small file for other programs.",
        discussion: """
            For a bar, a widget or a script: the file is replaced as a whole, only when it shows something else, and says when it was \
            written. Without --follow it is written once. A program in Swift reads it with SnapshotReader; from the third line on it is JSON.

            EXAMPLES
              kith snapshot latest.snapshot --limit 5
              kith snapshot tasks.snapshot --tasks --tag home
              kith snapshot tasks.snapshot --tasks --follow      until Ctrl-C, also after changes of other machines
              kith snapshot --read tasks.snapshot --json
              tail -n +3 tasks.snapshot | jq -r '.[].task'
            """)

    @Argument(
        help: ArgumentHelp("The file to write, or with --read to read.", valueName: "file"), completion: .file(), transform: GivenPath.read)
    var file: String

    @Flag(help: "Say what is in a snapshot, when it was written, and whether it is whole, without opening the notes.")
    var read = false

    @Flag(help: "The open lines of check lists, in place of the notes.")
    var tasks = false

    @Flag(help: "Keep the file in step with the notes until Ctrl-C.")
    var follow = false

    @OptionGroup var list: ListOptions
    @OptionGroup var options: StoreOptions

    /// Longer lists are for `kith note list`.
    private static let limitMax = 1_000

    func validate() throws {
        if let limit = list.limit, limit > Self.limitMax { throw ValidationError("--limit is from 1 to \(Self.limitMax).") }
        let asks = tasks || follow || list.tag != nil || list.color != nil || list.order != nil || list.limit != nil
        if read, asks { throw ValidationError("--read is for a file that is there; leave the other options out.") }
    }

    private var url: URL { URL(filePath: file) }

    private var content: NoteSnapshot {
        var query = NoteQuery()
        list.apply(to: &query)
        return tasks ? .tasks(query) : .notes(query)
    }

    func run() async throws {
        if read { return try SnapshotReport(SnapshotReader(url).bytes(), path: file).show(asJSON: options.json) }
        if !follow {
            return try options.withNotes(onlyReading: true) { notes in
                let isWritten = try notes.snapshot(content, to: url).write()
                if options.json { return try Console.output.write(json: WrittenRecord(path: url.path, written: isWritten)) }
                if Console.output.isTerminal { try Console.output.writeLine(isWritten ? "Written." : "It says this already.") }
            }
        }
        let folders = try options.foldersWithFile()
        let notes = try NotesStore.open(folders.notes, options: folders.notesOptions)
        let signals = StopSignals()
        let stops = signals.stream
        let writer = notes.snapshot(content, to: url)
        // A folder that is not there is said at once, and not waited for.
        try writer.write()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await writer.run() }
            group.addTask { await Self.tellTrouble(of: writer) }
            group.addTask {
                for await _ in stops { break }
            }
            await group.next()
            group.cancelAll()
        }
        withExtendedLifetime(signals) { try? notes.close() }
    }

    /// Says on standard error why the file cannot be written, once, and when it is written again.
    private static func tellTrouble(of writer: SnapshotWriter) async {
        var said: String?
        while (try? await Task.sleep(for: .milliseconds(500))) != nil {
            let trouble = writer.status.error?.message
            if trouble == said { continue }
            try? Console.error.writeLine(PlainText.line(trouble ?? "The file is written again."))
            said = trouble
        }
    }
}

/// What `kith snapshot FILE --json` says.
private struct WrittenRecord: Encodable {
    let path: String
    /// Whether the file was another one before.
    let written: Bool
}

/// What `kith snapshot --read` says.
private struct SnapshotReport {
    let reading: SnapshotReading<Data>
    let path: String

    init(_ reading: SnapshotReading<Data>, path: String) {
        (self.reading, self.path) = (reading, path)
    }

    func show(asJSON: Bool) throws {
        let (state, snapshot): (String, Snapshot<Data>)
        switch reading {
        case .ok(let found): (state, snapshot) = ("ok", found)
        case .stale(let found): (state, snapshot) = ("stale", found)
        case .missing: throw CommandFailure(.noInput, "There is no file \(path). `kith snapshot \(path)` writes one.")
        case .newer(let format):
            throw CommandFailure(.data, "\(path) is of format \(format), which this version of Kith does not know. Update it.")
        case .damaged(let damage): throw CommandFailure(.data, "\(path) is \(Self.words(damage))")
        }
        if asJSON { return try write(state, snapshot) }
        let written = TimeText(snapshot.date)?.local ?? "unknown"
        let end = snapshot.validUntil.flatMap { TimeText($0)?.local } ?? "then"
        let expired = state == "stale" ? ", and was to be shown until \(end) only" : ""
        try Console.output.writeLine("\(PlainText.line(snapshot.name)), written \(written)\(expired):")
        for row in Self.rows(snapshot.content) { try Console.output.writeLine("  " + PlainText.line(row)) }
    }

    /// What people want to see of a content: of a list of notes or tasks their words.
    private static func rows(_ content: Data) -> [String] {
        guard let rows = try? JSONSerialization.jsonObject(with: content) as? [[String: Any]] else {
            return [String(decoding: content, as: UTF8.self)]
        }
        return rows.map { row in row["task"] as? String ?? row["title"] as? String ?? "\(row)" }
    }

    private func write(_ state: String, _ snapshot: Snapshot<Data>) throws {
        var fields: [String: Any] = ["state": state, "name": snapshot.name]
        fields["written"] = TimeText(snapshot.date)?.iso8601
        fields["validUntil"] = snapshot.validUntil.flatMap { TimeText($0)?.iso8601 }
        fields["nextMoment"] = snapshot.nextMoment.flatMap { TimeText($0)?.iso8601 }
        fields["content"] =
            (try? JSONSerialization.jsonObject(with: snapshot.content, options: .fragmentsAllowed))
            ?? String(decoding: snapshot.content, as: UTF8.self)
        let json = try JSONSerialization.data(withJSONObject: fields, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        try Console.output.writeLine(Console.harmless(String(decoding: json, as: UTF8.self)))
    }

    private static func words(_ damage: SnapshotDamage) -> String {
        switch damage {
        case .notASnapshot: "no snapshot."
        case .tooLong: "longer than a snapshot may be."
        case .changed: "damaged: it is not what was written. Write it anew."
        case .header, .content: "damaged: it cannot be read. Write it anew."
        case .unreadable(let reason): "not readable: \(reason)"
        }
    }
}
