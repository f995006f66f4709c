import Foundation
import GRDB
import KithLedger
import KithSQLite
import KithSnapshot
import Synchronization

/// Keeps the answer of a query in a file, for programs that do not open the database; see
/// ``SyncedDatabase/snapshot(_:to:options:content:)``.
public final class SnapshotWriter: Sendable {
    /// An answer, and what it stands for.
    private struct Answer: Sendable {
        let value: any Encodable & Sendable
        let nextMoment: Date?
        let validUntil: Date?
        let version: SnapshotVersion
    }

    /// What decides whether the file is written anew.
    private struct Held: Equatable, Sendable {
        var name: String
        var encoding: String
        var content: Data
        var nextMoment: Date?
        var validUntil: Date?

        /// Dates lie in the file as milliseconds.
        static func == (left: Held, right: Held) -> Bool {
            left.name == right.name && left.encoding == right.encoding && left.content == right.content
                && milliseconds(left.nextMoment) == milliseconds(right.nextMoment)
                && milliseconds(left.validUntil) == milliseconds(right.validUntil)
        }

        private static func milliseconds(_ date: Date?) -> Double? { date.map { ($0.timeIntervalSince1970 * 1_000).rounded() } }
    }

    private struct State: Sendable {
        var status = SnapshotStatus()
        /// What lies in the file, as far as this process knows.
        var held: Held?
        /// What the last answer stood for.
        var version = SnapshotVersion(commits: [:])
        var hasBegun = false
        /// When to look again without a commit.
        var next: Date?
        var failures = 0
    }

    /// What the snapshot is called.
    public let name: String
    /// Where it lies.
    public let url: URL
    private let store: SyncedDatabase
    private let options: SnapshotOptions
    private let query: @Sendable (Database) throws -> Answer
    private let replace: @Sendable (SnapshotFile, Data) throws(SnapshotError) -> Void
    private let state = Mutex(State())
    /// One look at a time.
    private let turn = Mutex(())

    init<Value: Encodable & Sendable>(
        _ store: SyncedDatabase, _ name: String, _ url: URL, _ options: SnapshotOptions,
        replace: @escaping @Sendable (SnapshotFile, Data) throws(SnapshotError) -> Void = { file, bytes throws(SnapshotError) in
            try file.replace(with: bytes)
        },
        _ query: @escaping @Sendable (Database) throws -> SnapshotContent<Value>
    ) {
        self.store = store
        self.name = name
        self.url = url
        self.options = options
        self.replace = replace
        self.query = { db in
            let content = try query(db)
            let commits = try VectorRecords.vector(db).entries.map { ($0.replica.description, $0.sequence) }
            return Answer(
                value: content.value, nextMoment: content.nextMoment, validUntil: content.validUntil,
                version: SnapshotVersion(commits: Dictionary(commits) { max($0, $1) }))
        }
    }

    /// How things stand.
    public var status: SnapshotStatus { state.withLock(\.status) }

    // MARK: Once

    /// Asks the query, and writes the file if it does not hold the answer. Within an access to the database that has a transaction open it
    /// throws: what is not committed is not for others.
    ///
    /// - Returns: whether it was written.
    @discardableResult
    public func write() throws(SnapshotError) -> Bool {
        try finish(
            Result {
                try store.checkIsOpen()
                return try store.database.unsafeReentrantRead { db in
                    try db.requireNoAccess()
                    return try db.inOneTransaction(.deferred, query)
                }
            })
    }

    /// Writes an answer, and notes how that went.
    private func finish(_ answer: Result<Answer, any Error>) throws(SnapshotError) -> Bool {
        let result = Result { () throws(SnapshotError) in
            switch answer {
            case .success(let found): return try turn.withLock { _ throws(SnapshotError) in try put(found) }
            case .failure(let error): throw SnapshotError(.queryFailed, "The query of the snapshot \(name) failed: \(error)")
            }
        }
        state.withLock { state in
            switch result {
            case .success:
                state.failures = 0
                state.status.error = nil
                state.status.retry = nil
            case .failure(let error):
                let pause = Self.retrySeconds[min(state.failures, Self.retrySeconds.count - 1)]
                state.failures += 1
                state.status.error = error
                state.status.retry = options.now().addingTimeInterval(pause)
                state.next = state.status.retry
            }
        }
        return try result.get()
    }

    private static let retrySeconds: [TimeInterval] = [0.5, 1, 2, 5, 10, 30, 60]

    private func put(_ answer: Answer) throws(SnapshotError) -> Bool {
        let content: Data
        do {
            content = try options.encode.map { try $0(answer.value) } ?? SnapshotFormat.json(answer.value)
        } catch {
            throw SnapshotError(.notEncodable, "The content of the snapshot \(name) cannot be encoded: \(error)")
        }
        let file = SnapshotFile(url)
        try begin(file)
        let now = options.now()
        let (held, version) = state.withLock { ($0.held, $0.version) }
        // Another thread has looked later, and was faster.
        if answer.version != version, version.includes(answer.version) { return false }
        var wanted = Held(
            name: name, encoding: options.encoding, content: content, nextMoment: answer.nextMoment, validUntil: answer.validUntil)
        let life = options.validFor.map(TimeInterval.init)
        if let life { wanted.validUntil = min(wanted.validUntil ?? .distantFuture, now.addingTimeInterval(life)) }
        var isNew = held == nil || !file.isThere
        if let held, !isNew {
            var compared = wanted
            // What was written lasts for half of its life.
            if let life, let end = held.validUntil, end > now.addingTimeInterval(life / 2),
                answer.validUntil == nil || answer.validUntil == held.validUntil
            {
                compared.validUntil = held.validUntil
            }
            isNew = compared != held
            if !isNew { wanted = held }
        }
        if isNew {
            // Somebody may have put something else there meanwhile.
            try file.checkKind()
            try replace(file, try bytes(answer, wanted, now))
        }
        let halfLife = life.flatMap { life in wanted.validUntil.map { $0.addingTimeInterval(-life / 2) } }
        state.withLock { state in
            state.held = wanted
            state.version = answer.version
            state.next = [wanted.nextMoment, halfLife].compactMap(\.self).filter { $0 > now }.min()
            state.status.looked = now
            guard isNew else { return }
            state.status.written = now
            state.status.writes += 1
        }
        return isNew
    }

    private func bytes(_ answer: Answer, _ wanted: Held, _ now: Date) throws(SnapshotError) -> Data {
        let bytes: Data
        do {
            bytes = try SnapshotFormat.bytes(
                name: name, date: now, version: answer.version, validUntil: wanted.validUntil, nextMoment: wanted.nextMoment,
                encoding: wanted.encoding, content: wanted.content)
        } catch {
            throw SnapshotError(.notEncodable, "The content of the snapshot \(name) cannot be encoded: \(error)")
        }
        if bytes.count > SnapshotFormat.bytesMax {
            throw SnapshotError(
                .tooLong,
                "The snapshot \(name) would have \(bytes.count) bytes, and \(SnapshotFormat.bytesMax) are allowed. Let its query give fewer rows."
            )
        }
        return bytes
    }

    /// What another process has written is not written again.
    private func begin(_ file: SnapshotFile) throws(SnapshotError) {
        if state.withLock({ $0.hasBegun }) { return }
        file.tidy()
        let held = try file.held().map { raw in
            Held(
                name: raw.snapshot.name, encoding: raw.encoding, content: raw.snapshot.content, nextMoment: raw.snapshot.nextMoment,
                validUntil: raw.snapshot.validUntil)
        }
        state.withLock { state in
            state.held = held
            state.hasBegun = true
        }
    }

    // MARK: Always

    /// Keeps the file in step with the database until the task is cancelled or the store is closed: after each commit of this process,
    /// merge and commit of another process, also to what does not synchronise, and at the moments that the content names. What fails is in
    /// ``status``, and tried again after half a second, later after a minute, and with each commit.
    public func run() async {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let observations = [store.signal, store.end].map { CommitObservation($0) { _ in wake.yield() } }
        let watch = RegionWatch(.fullDatabase) { wake.yield() }
        defer {
            for observation in observations { observation.cancel() }
            withExtendedLifetime(watch) {}
        }
        // Without waiting for a writer on this thread. It fails if the task is cancelled or the database is closed.
        try? await store.database.writeWithoutTransaction { db in db.add(transactionObserver: watch, extent: .observerLifetime) }
        var occasions = wakes.makeAsyncIterator()
        while !Task.isCancelled, !store.isClosed.load(ordering: .acquiring) {
            do {
                let answer = try await store.database.read { [query] db in try query(db) }
                _ = try? finish(.success(answer))
            } catch is CancellationError {
                return
            } catch {
                _ = try? finish(.failure(error))
            }
            if options.atMostEvery > .zero { try? await Task.sleep(for: options.atMostEvery) }
            let next = state.withLock(\.next)
            let now = options.now()
            // No longer than that, for a clock may be set.
            async let _ = Self.wait(min(max(next?.timeIntervalSince(now) ?? Self.waitSeconds, 0), Self.waitSeconds), wake)
            if await occasions.next() == nil { return }
        }
    }

    private static let waitSeconds: TimeInterval = 60

    private static func wait(_ seconds: TimeInterval, _ wake: AsyncStream<Void>.Continuation) async {
        do {
            try await Task.sleep(for: .seconds(seconds))
            wake.yield()
        } catch {
            // A commit came first.
        }
    }
}

extension TimeInterval {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = Double(seconds) + Double(attoseconds) / 1e18
    }
}
