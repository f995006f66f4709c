import Foundation
import Kith
import KithNotes
import KithReport
import Synchronization

/// Tells the pages that are open what has changed, as server-sent events.
final class ChangeFeed: Sendable {
    private static let beatMilliseconds = 10_000
    private static let statusMilliseconds = 1_000
    /// So many times the status is looked at with one reading of the list of devices.
    private static let trustTurns = 5
    /// News that one page may leave unread before it has to begin anew.
    private static let backlogMax = 200

    private struct State {
        var listeners: [Int: AsyncStream<String>.Continuation] = [:]
        var next = 0
        var status = ""
        var pairing = PairingDesk.View()
    }

    private let notes: NotesStore
    private let configuration: PageConfiguration
    private let listenersMax: Int
    /// Names this run of the server, so that a page knows when another has taken its place.
    private let run = UUID().uuidString
    private let software: String
    private let state = Mutex(State())

    init(_ notes: NotesStore, _ configuration: PageConfiguration) {
        self.notes = notes
        self.configuration = configuration
        listenersMax = configuration.limits.listenersMax
        software = configuration.software
    }

    /// Runs until the task is cancelled.
    func follow() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followCommits() }
            group.addTask { await self.followStatus() }
            group.addTask { await self.notes.keepSearchIndex() }
            group.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(Self.beatMilliseconds))
                    self.send("event: beat\ndata: {}\n\n")
                }
            }
        }
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return state.listeners
        }
        for listener in listeners.values { listener.finish() }
    }

    /// The events for one page; `nil` if there are too many pages already.
    func listen() -> AsyncStream<String>? {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(Self.backlogMax))
        let hello = Self.event("hello", Hello(run: run, software: software))
        let number: Int? = state.withLock { state in
            guard state.listeners.count < listenersMax else { return nil }
            // Under the lock: what changes from now on comes after these.
            continuation.yield(hello)
            continuation.yield(Self.event("status", Sentence(sentence: state.status)))
            continuation.yield(Self.event("pairing", state.pairing))
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        guard let number else { return nil }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[number] = nil } }
        return stream
    }

    private func followCommits() async {
        let commits = notes.store.commits
        var known = try? notes.store.vector()
        for await _ in commits {
            if Task.isCancelled { return }
            let notes = notes
            guard let before = known else {
                known = try? notes.store.vector()
                send(Self.event("changes", News.anything))
                continue
            }
            // What cannot be read now is read after the next commit.
            guard
                let (news, vector) = try? await DiskWork.run({
                    let changes = try notes.changes(since: before)
                    return (
                        News(changes, conflicts: try notes.conflicts().count), changes.hasMore ? try notes.store.vector() : changes.vector
                    )
                })
            else { continue }
            known = vector
            if !news.changed.isEmpty || !news.deleted.isEmpty || news.more { send(Self.event("changes", news)) }
        }
    }

    private func followStatus() async {
        var known: (trust: TrustStore, turn: Int)?
        var turn = 0
        while !Task.isCancelled {
            let (configuration, node) = (configuration, StatusReport.node(of: configuration.notesFile))
            // A node says itself what it knows; without one, the list of devices is looked at now and then.
            if node == nil, known.map({ $0.turn + Self.trustTurns <= turn }) ?? true {
                known = (try? await DiskWork.run { try configuration.trust() }).map { ($0, turn) }
            }
            turn += 1
            let trust = known?.trust
            let report = try? await DiskWork.run {
                StatusReport(file: configuration.notesFile, node: node, trust: try trust ?? configuration.trust())
            }
            let sentence = report?.sentence ?? ""
            let isNew = state.withLock { state in
                defer { state.status = sentence }
                return state.status != sentence
            }
            if isNew { send(Self.event("status", Sentence(sentence: sentence))) }
            try? await Task.sleep(for: .milliseconds(Self.statusMilliseconds))
        }
    }

    func tell(pairing view: PairingDesk.View) {
        state.withLock { if $0.pairing.number < view.number { $0.pairing = view } }
        send(Self.event("pairing", view))
    }

    private func send(_ event: String) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners {
            // Whoever has not read the others comes back, and looks at everything.
            if case .dropped = listener.yield(event) { listener.finish() }
        }
    }

    private static func event(_ name: String, _ value: some Encodable) -> String {
        let data = (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        return "event: \(name)\ndata: \(data)\n\n"
    }
}

private struct Hello: Encodable {
    let run: String
    let software: String
}

private struct Sentence: Encodable {
    let sentence: String
}

private struct News: Encodable {
    let changed: [String]
    let deleted: [String]
    let more: Bool
    /// How many choices wait; `nil` if that is not known.
    let conflicts: Int?

    /// Where it is not known what has changed.
    static let anything = News(changed: [], deleted: [], more: true)

    private init(changed: [String], deleted: [String], more: Bool) {
        (self.changed, self.deleted, self.more, conflicts) = (changed, deleted, more, nil)
    }

    init(_ changes: NoteChanges, conflicts: Int) {
        self.conflicts = conflicts
        changed = changes.changed.map { $0.id.uuidString.lowercased() }
        deleted = changes.deleted.map { $0.uuidString.lowercased() }
        more = changes.hasMore
    }
}
