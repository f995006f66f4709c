#if os(Linux)
import Foundation
import KithCausality
import Synchronization

/// Asks all machines again and again what is safe where, as a person does, and looks into the stores of the machines that are named.
///
/// What must be there is read before a machine is asked, and looked for after its answer. So what is missing was missing when it was
/// said to be there; what arrives in between is missed, and nothing right is called wrong.
final class SafetyWatch: Sendable {
    private static let pauseMicroseconds: UInt32 = 200_000
    private static let commandSecondsMax = 60

    private struct State {
        var statements = 0
        var findings: [Finding] = []
        /// What was told once is not told again.
        var told: Set<[String]> = []
        /// The bytes that were compared, by node and content.
        var compared: Set<[String]> = []
        var isStopped = false
    }

    private struct Answer: Decodable {
        struct Holder: Decodable {
            var deviceID: String
        }
        struct Safety: Decodable {
            var holders: [Holder]
        }
        /// Of `kith status`.
        var safety: Safety?
        /// Of `kith note show`.
        var safeOn: [Holder]?
    }

    /// What a machine says of another one.
    private struct Statement {
        let speaker: Int
        let atMilliseconds: Int64
        /// What it speaks of, for people.
        let subject: String
        let commits: VersionVector
        let attachments: [StoreLook.Attachment]
    }

    private let hosts: [Host]
    private let nodes: [String: Int]
    private let run: RunState
    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "what is safe")

    /// - Parameter deviceIDs: by node.
    init(_ hosts: [Host], _ deviceIDs: [String], _ run: RunState) {
        self.hosts = hosts
        self.run = run
        nodes = Dictionary(deviceIDs.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    /// How often a machine called something safe on another one.
    var statements: Int { state.withLock { $0.statements } }

    func start() {
        thread.async { [self] in
            while !state.withLock({ $0.isStopped }), !run.isInterrupted {
                for host in hosts where !state.withLock({ $0.isStopped }) { ask(host) }
                usleep(Self.pauseMicroseconds)
            }
        }
    }

    /// Asks all once more, and says what was found.
    func finish() -> [Finding] {
        state.withLock { $0.isStopped = true }
        thread.sync {}
        for host in hosts { ask(host) }
        return state.withLock { $0.findings }
    }

    /// The attachments that are shown somewhere and whose bytes are not everywhere.
    func lackingBytes() -> [String] {
        let shown = hosts.map { StoreLook.attachments($0.notes) }
        let all = Dictionary(shown.compactMap(\.self).joined().map { ($0.content, $0) }) { first, _ in first }
        return hosts.enumerated().flatMap { node, host in
            if shown[node] == nil { return ["the notes of \(host.spec.name) cannot be read"] }
            return all.values.sorted { $0.name < $1.name }.filter { !isKept($0, node) }.map { "\(host.spec.name) lacks \($0.name)" }
        }
    }

    // MARK: Questions

    private func ask(_ host: Host) {
        if run.with({ $0.lost.contains(host.index) }) { return }
        guard let look = StoreLook.take(host.notes), let attachments = StoreLook.attachments(host.notes) else { return }
        let writes = run.with { $0.writes }
        func statement(_ subject: String, _ commits: VersionVector, _ attachments: [StoreLook.Attachment]) -> Statement {
            Statement(
                speaker: host.index, atMilliseconds: run.nowMilliseconds, subject: subject, commits: commits, attachments: attachments)
        }
        judge(
            statement("everything", look.vector, attachments),
            answer(host, ["status", "--json"])?.safety?.holders)
        let ids = run.with { $0.noteIDs }
        for (note, id) in ids.sorted(by: { $0.key < $1.key }) {
            let own = attachments.filter { $0.note == id.filter { $0 != "-" } }
            if own.isEmpty { continue }
            var commits = VersionVector()
            // A row that nobody changes after its commit; other commits of the note may have been overwritten.
            for write in writes where write.node == host.index && write.note == note && write.change.kind == .attach {
                if let dot = write.dot, write.outcome == .acknowledged { commits.insert(dot) }
            }
            judge(statement("the note \(note)", commits, own), answer(host, ["note", "show", id, "--json"])?.safeOn)
        }
    }

    private func answer(_ host: Host, _ arguments: [String]) -> Answer? {
        let answer = try? host.run(arguments, isLook: true, secondsMax: Self.commandSecondsMax)
        guard let answer, answer.status == 0 else { return nil }
        return try? JSONDecoder().decode(Answer.self, from: Data(answer.text.utf8))
    }

    // MARK: Answers

    private func judge(_ statement: Statement, _ holders: [Answer.Holder]?) {
        for holder in holders ?? [] {
            guard let node = nodes[holder.deviceID] else { continue }
            let lacking = lacking(statement, node)
            // A store that was taken away meanwhile was what it was said to be, for all that is known.
            if run.with({ $0.lost.contains(node) }) { continue }
            guard let lacking else { continue }
            state.withLock { state in
                state.statements += 1
                for (what, file) in lacking
                where state.told.insert(["\(statement.speaker)", "\(node)", statement.subject, what]).inserted {
                    let at = Quantity.span(Double(statement.atMilliseconds))
                    let words = "\(hosts[statement.speaker].spec.name) said after \(at) that \(statement.subject) is safe"
                    let sentence = "\(words) on \(hosts[node].spec.name), which lacked \(what)."
                    state.findings.append(Finding(rule: .falselySafe, sentence: sentence, write: file))
                }
            }
        }
    }

    /// What is not in the store of a node although it was said to be there, and the write that it is of; `nil` if it cannot be read.
    private func lacking(_ statement: Statement, _ node: Int) -> [(what: String, write: Int?)]? {
        guard let look = StoreLook.take(hosts[node].notes) else { return nil }
        let writes = run.with { $0.writes }
        var lacking: [(String, Int?)] = []
        let commits = statement.commits.entries.filter { !look.vector.covers($0) }
        if let first = commits.first {
            lacking.append(("commits that were to be there", writes.first { $0.dot == first }?.index))
        }
        for attachment in statement.attachments where !isKept(attachment, node) {
            let write = writes.first { $0.change.kind == .attach && $0.value == attachment.name }
            let size = run.with { $0.files[attachment.name] }.map { " (\(Quantity.size($0.bytes)))" } ?? ""
            lacking.append(("the bytes of \(attachment.name)\(size)", write?.index))
        }
        return lacking
    }

    /// Whether a node has the bytes. They are compared once, and later counted.
    private func isKept(_ attachment: StoreLook.Attachment, _ node: Int) -> Bool {
        // The lab makes all files; of one that it did not make it cannot tell.
        guard let file = run.with({ $0.files[attachment.name] }) else { return true }
        let key = ["\(node)", attachment.content]
        let isNew = !state.withLock { $0.compared.contains(key) }
        let isKept = file.isKept(as: attachment.content, beside: hosts[node].notes, reads: isNew)
        if isKept { state.withLock { _ = $0.compared.insert(key) } }
        return isKept
    }
}
#endif
