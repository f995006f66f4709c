import ArgumentParser
import Foundation
import Kith
import KithNotes

struct NoteUndo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Take back what was done last on this machine, by a command or on the page.",
        discussion: """
            It takes back only what still is as it was left; what was changed since stays, and is listed. Run it again for what \
            was done before, up to 30 days back. Each file that was attached, and each choice, is a step of its own. Titles and \
            texts that were written on the page, what a folder or an import has brought, and `kith revert` are not taken back.

            EXAMPLES
              kith note rm Shopping
              kith note undo
              kith note undo --redo                it is gone again
            """)

    @Flag(help: "Do again what was taken back last.")
    var redo = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        let report = try options.withNotes { notes in
            try (redo ? notes.redo() : notes.undo()).map { try StepReport($0, notes, options) }
        }
        guard let report else {
            throw CommandFailure(.noInput, redo ? "There is nothing to do again." : "There is nothing to take back.")
        }
        try report.write(
            done: redo ? "Did again" : "Took back", nothing: "Everything was changed since; nothing is different now.")
    }
}

/// What an undo has done, for people and programs.
struct StepReport {
    private let report: UndoReport
    private let options: StoreOptions
    /// What was left, but for the time of a note's last change, which Kith writes by itself.
    private let left: [UndoReport.Left]
    /// What the notes and attachments are called of which something was left.
    private var titles: [UUID: String] = [:]

    init(_ report: UndoReport, _ notes: NotesStore, _ options: StoreOptions) throws {
        self.report = report
        self.options = options
        left = report.left.filter { $0.column != "updated" }
        for left in left {
            let id = UUID(left.row)
            titles[id] = left.table == "note" ? try notes.note(id)?.title : try notes.attachment(id)?.name
        }
    }

    func write(done: String, nothing: String) throws {
        let names = options.deviceNames()
        if options.json { return try Console.output.write(json: StepRecord(report, left, names)) }
        if report.rowsChanged == 0 {
            try Console.output.writeLine(left.isEmpty ? nothing : "Nothing is different now.")
        } else {
            let count = report.rowsChanged == 1 ? "one change" : "\(NodeStatus.grouped(report.rowsChanged)) changes"
            try Console.output.writeLine(PlainText.line("\(done): \(report.title ?? count)."))
        }
        for left in left { try Console.output.writeLine(PlainText.line("Left \(place(left)): \(Self.why(left, names)).")) }
    }

    private func place(_ left: UndoReport.Left) -> String {
        let title = titles[UUID(left.row)].map { "“\($0)”" }
        guard left.table == "note" else { return title.map { "the attachment \($0)" } ?? "an attachment" }
        guard let column = left.column else { return title ?? "a note" }
        return "the \(column == "body" ? "text" : column) of \(title ?? "a note")"
    }

    private static func why(_ left: UndoReport.Left, _ names: DeviceNames) -> String {
        let author = left.by.flatMap { names[$0] }.map { " by \($0)" } ?? ""
        switch left.reason {
        case .changedSince: return "it was changed since\(author)"
        case .deletedSince: return "it was deleted since\(author)"
        case .isReferredTo: return "something was added to it since\(author)"
        case .refused(let message): return message
        }
    }
}

/// The same in the JSON that commands print.
private struct StepRecord: Encodable {
    struct Left: Encodable {
        let table: String
        let id: String
        let field: String?
        let reason: String
        let device: String?
    }

    let title: String?
    let changed: Int
    let left: [Left]

    init(_ report: UndoReport, _ rest: [UndoReport.Left], _ names: DeviceNames) {
        title = report.title
        changed = report.rowsChanged
        left = rest.map { left in
            let reason =
                switch left.reason {
                case .changedSince: "changedSince"
                case .deletedSince: "deletedSince"
                case .isReferredTo: "isReferredTo"
                case .refused: "refused"
                }
            return Left(
                table: left.table, id: UUID(left.row).uuidString.lowercased(), field: left.column, reason: reason,
                device: left.by.flatMap { names[$0] })
        }
    }
}
