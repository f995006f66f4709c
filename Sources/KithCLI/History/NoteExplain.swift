import ArgumentParser
import Foundation
import Kith
import KithNotes
import KithReport

struct NoteExplain: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say why a note says what it says: who wrote it, and what was written beside it.",
        discussion: """
            EXAMPLES
              kith note explain Shopping
              kith note explain Shopping --field color
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @Option(help: ArgumentHelp("The field: title, body, color or tags.", valueName: "field"))
    var field = NoteField.title

    @OptionGroup var options: StoreOptions

    func run() throws {
        let explanation = try options.withNotes(onlyReading: true) { notes in try notes.explain(notes.find(note).id, field) }
        let names = options.deviceNames()
        if options.json { return try Console.output.write(json: ExplanationRecord(explanation, field, names)) }
        switch explanation.kind {
        case .register:
            for version in explanation.versions { try Console.output.writeLine(PlainText.line(Self.line(version, field, names))) }
            if explanation.versions.isEmpty { try Console.output.writeLine("Nothing was ever written there; it shows what is usual.") }
        case .text: try Console.output.writeLine("The text of several machines is merged; `kith note history` lists its versions.")
        case .set, .counter: try Console.output.writeLine("What several machines add and remove is merged.")
        }
        for transaction in explanation.history {
            for change in transaction.changes {
                let when = TimeText(transaction.date)?.local ?? "unknown"
                let author = change.device.flatMap { names[$0] } ?? "unknown"
                try Console.output.writeLine(PlainText.line("\(when)  \(Self.what(change, field))  by \(author)"))
            }
        }
    }

    private static func line(_ version: Explanation.Version, _ field: NoteField, _ names: DeviceNames) -> String {
        let value = Self.text(version.value, field)
        let author = names[version.author] ?? "a store that no machine has said it is"
        let why =
            switch version.reason {
            case .only: "is shown: nothing was written beside it"
            case .latest: "is shown: it is the latest of those that were written without sight of each other"
            case .earlier: "is kept: a later one is shown"
            case .comesAfter: "is kept: the one that is shown was written in the same instant, and comes first by the ids of the stores"
            case .found: "was there before the notes were in step, and gives way to what was written"
            }
        return "\(value), by \(author), \(WrittenTime(version.stamp.timestamp).text), \(why)."
    }

    private static func what(_ change: HistoryChange, _ field: NoteField) -> String {
        switch change.kind {
        case .insert: return "added"
        case .delete: return "deleted"
        case .update:
            switch change.columns[field.rawValue] {
            case .value(let old, let new)?: return "\(text(old, field)) became \(text(new, field))"
            case .text(let offset, let removed, let inserted)?: return "at byte \(offset): -\(removed.count) +\(inserted.count) characters"
            case nil: return "changed"
            }
        }
    }

    private static func text(_ value: ColumnValue, _ field: NoteField) -> String {
        switch value {
        case .null: "nothing"
        case .integer(let number): field.text(number)
        case .real(let bits): "\(Double(bitPattern: bits))"
        case .text(let bytes): "\u{201C}\(String(decoding: bytes, as: UTF8.self).prefix(200))\u{201D}"
        case .blob(let bytes): "\(bytes.count) bytes"
        }
    }
}

extension NoteField {
    /// What people call a number in the field.
    fileprivate func text(_ number: Int64) -> String { self == .color ? NoteColor(rawValue: number).name : "\(number)" }
}

/// The same in the JSON that commands print.
private struct ExplanationRecord: Encodable {
    struct Version: Encodable {
        let value: String?
        let device: String?
        let written: String?
        let writtenAtLatest: String?
        let reason: String
    }

    let versions: [Version]
    let changes: Int

    init(_ explanation: Explanation, _ field: NoteField, _ names: DeviceNames) {
        versions = explanation.versions.map { version in
            let value: String? =
                switch version.value {
                case .text(let bytes): String(decoding: bytes, as: UTF8.self)
                case .integer(let number): field.text(number)
                default: nil
                }
            let written = WrittenTime(version.stamp.timestamp)
            return Version(
                value: value, device: names[version.author], written: written.iso8601, writtenAtLatest: written.latestISO8601,
                reason: version.reason.rawValue)
        }
        changes = explanation.history.count
    }
}
