#if os(Linux)
import Foundation
import KithCausality
import Synchronization

/// Makes writes through `kith` on one machine, one after the other, and notes what became of them.
final class Writer: Sendable {
    private static let killed: Int32 = 128
    private static let colors = ["none", "yellow", "green", "blue", "red"]

    private let host: Host
    private let run: RunState
    private let queue: DispatchQueue

    init(_ host: Host, _ run: RunState) {
        self.host = host
        self.run = run
        queue = DispatchQueue(label: "writer of \(host.spec.name)")
    }

    /// Makes a write once those before it are done.
    func enqueue(_ index: Int, note: String, _ change: Scenario.Change) {
        run.with { $0.pendingWrites += 1 }
        queue.async { [self] in
            let write = perform(index, note, change)
            run.with { data in
                data.writes.append(write)
                data.pendingWrites -= 1
            }
        }
    }

    /// Returns once the writes that were asked for are done.
    func waitForAll() { queue.sync {} }

    private func perform(_ index: Int, _ note: String, _ change: Scenario.Change) -> WriteRecord {
        var write = WriteRecord(index: index, node: host.index, note: note, change: change, startedMilliseconds: run.nowMilliseconds)
        defer { write.endedMilliseconds = run.nowMilliseconds }
        let id = run.with { $0.noteIDs[note] }
        if id == nil, change.kind != .add {
            write.outcome = .refused("the note was not made yet")
            return write
        }
        var file: URL?
        if case .attach(let bytes) = change {
            guard let made = host.makeFile(LabFile(name: write.value, bytes: bytes)) else {
                write.outcome = .refused("the lab could not make the file")
                return write
            }
            run.with { $0.files[write.value] = LabFile(name: write.value, bytes: bytes) }
            file = made
        }
        defer { if let file { try? FileManager.default.removeItem(at: file) } }
        let before = StoreLook.take(host.notes, note: id)
        write.before = before?.vector ?? VersionVector()
        write.shownBefore = shown(before?.note, change)
        let result: (status: Int32, text: String)
        do {
            result = try host.run(arguments(id ?? "", change, file), environment: environment(change), isWrite: true)
        } catch {
            write.outcome = .refused(error.message)
            return write
        }
        let after = StoreLook.take(host.notes)
        write.after = after?.vector ?? write.before
        if let own = after?.replica, write.after[own] > write.before[own] { write.dot = Dot(replica: own, sequence: write.after[own]) }
        write.madeNoCommit = after != nil && write.dot == nil && before?.replica == after?.replica
        if result.status == 0 {
            write.outcome = .acknowledged
            if case .add = change, let id = result.text.split(whereSeparator: \.isNewline).last {
                run.with { $0.noteIDs[note] = String(id) }
            }
        } else if result.status < Self.killed {
            write.outcome = .refused(result.text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return write
    }

    private func shown(_ row: StoreLook.Row?, _ change: Scenario.Change) -> String? {
        guard let row else { return nil }
        switch change {
        case .title: return row.title
        case .color: return Self.colors.indices.contains(Int(row.color)) ? Self.colors[Int(row.color)] : nil
        default: return nil
        }
    }

    /// No value is taken for an option, even if it begins with a dash.
    private func arguments(_ id: String, _ change: Scenario.Change, _ file: URL?) -> [String] {
        switch change {
        case .add(let title): ["note", "add", "--", title]
        case .title(let title): ["note", "edit", id, "--title", title]
        case .line: ["note", "edit", id]
        case .color(let color): ["note", "edit", id, "--color", color]
        case .tag(let tag): ["note", "edit", id, "--add-tag=\(tag)"]
        case .untag(let tag): ["note", "edit", id, "--remove-tag=\(tag)"]
        case .delete: ["note", "rm", id]
        case .attach: ["note", "attach", id, file?.path ?? ""]
        }
    }

    /// Lines are written as people do it, in an editor: so the text that others change meanwhile is not overwritten unseen.
    private func environment(_ change: Scenario.Change) -> [String: String] {
        guard case .line(let line) = change else { return [:] }
        return ["KITH_LAB_LINE": line, "VISUAL": "", "EDITOR": "sh \(host.editor.path)"]
    }
}
#endif
