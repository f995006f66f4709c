import Foundation
import GRDB
import KithSQLite
import KithSync
import Logging
import Synchronization
import Testing

@testable import Kith

/// Real stores, TCP and TLS over loopback; what could keep the bytes of an attachment from arriving, or let them get in the way of rows.
@Suite struct AttachmentExchangeTests {
    static let sql = "CREATE TABLE photo (id BLOB PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '', file TEXT)"

    static func node(_ change: (inout SyncedDatabase.Options) -> Void = { _ in }) throws -> TestNode {
        var options = SyncedDatabase.Options()
        change(&options)
        return try TestNode(sql: sql, tables: [TrackedTable("photo", attachments: ["file"])], options: options)
    }

    @Test func `twenty megabytes arrive and rows do not wait for them`() async throws {
        let (a, b) = (try Self.node(), try Self.node())
        try await connect(a, b)
        let content = Self.content(20 << 20)
        let id = try a.store.attach(content)
        try a.add(id)
        try await b.until { b.count == 1 }
        // The row is there; the bytes are, or are marked as on their way.
        try a.add(nil)
        try await b.until { b.count == 2 }
        try await b.until { if case .present = b.store.attachmentState(id) { true } else { false } }
        guard case .present(let file) = b.store.attachmentState(id) else { return }
        #expect([UInt8](try Data(contentsOf: file.url)) == content)
        #expect(try b.store.wantedAttachments() == [])
        await a.stop()
        await b.stop()
    }

    @Test func `bytes reach a node through one that passes them on and from whomever is there`() async throws {
        let (a, b, c) = (try Self.node(), try Self.node(), try Self.node())
        try await connect(a, b)
        try b.trust(c)
        try c.trust(b, port: try await b.port())
        c.start()
        let id = try a.store.attach(Self.content(1 << 20))
        try a.add(id)
        try await c.until { if case .present = c.store.attachmentState(id) { true } else { false } }
        for node in [a, b, c] { await node.stop() }
    }

    @Test func `a transfer that is broken off goes on when both meet again`() async throws {
        // The disk of b is full after two megabytes, as often as it stops.
        let room = Mutex(2 << 20)
        let a = try Self.node()
        let b = try Self.node { options in
            options.writeFile = { descriptor, bytes in
                guard
                    room.withLock({ room in
                        defer { room -= min(room, bytes.count) }
                        return room >= bytes.count
                    })
                else {
                    errno = ENOSPC
                    return -1
                }
                return systemWrite(descriptor, bytes)
            }
        }
        try await connect(a, b)
        let id = try a.store.attach(Self.content(5 << 20))
        try a.add(id)
        try await b.until { if case .onItsWay(let received, _) = b.store.attachmentState(id) { received >= 1 << 20 } else { false } }
        // Rows still come.
        try a.add(nil)
        try await b.until { b.count == 2 }
        await b.stop()
        room.withLock { $0 = 1 << 30 }
        let port = try await a.port()
        try b.trust.remove(a.key.id)
        try b.trust(a, port: port)
        b.start()
        try await b.until { if case .present = b.store.attachmentState(id) { true } else { false } }
        await a.stop()
        await b.stop()
    }

    @Test func `what is larger than is fetched unasked comes when somebody asks`() async throws {
        let (a, b) = (try Self.node(), try Self.node { $0.attachmentBytesFetched = 100 })
        try await connect(a, b)
        let (small, large) = (try a.store.attach(Self.content(100)), try a.store.attach(Self.content(101)))
        try a.add(large)
        try a.add(small)
        try await b.until { if case .present = b.store.attachmentState(small) { true } else { false } }
        try await b.until { b.store.attachmentState(large) == .notFetched(sizeBytes: 101) }
        #expect(try await b.store.attachment(large).sizeBytes == 101)
        await a.stop()
        await b.stop()
    }

    @Test func `what a member names beyond its room comes when somebody asks, and all else comes meanwhile`() async throws {
        let (a, b, c) = (try Self.node(), try Self.node { $0.attachmentBytesFetchedOfDevice = 5 * 4_096 }, try Self.node())
        try await connect(a, b)
        try c.trust(b, port: try await b.port())
        try b.trust(c)
        c.start()
        for member in [a, c] { try member.add(nil) }
        try await b.until { b.count == 2 }
        let greedy = try (0..<9).map { try a.store.attach(Self.content(900 + $0)) }
        for id in greedy { try a.add(id) }
        let honest = try c.store.attach(Self.content(1_500))
        try c.add(honest)
        try await b.until { b.count == 12 }
        try await b.until { if case .present = b.store.attachmentState(honest) { true } else { false } }
        // Two fit with their outlines, each file in a block of its own; those of which the size may be told are called what they are.
        try await b.until { greedy.contains { if case .notFetched = b.store.attachmentState($0) { true } else { false } } }
        try await b.until { greedy.count { if case .present = b.store.attachmentState($0) { true } else { false } } == 2 }
        for id in greedy { #expect(try await b.store.attachment(id).sizeBytes >= 900) }
        for node in [a, b, c] { await node.stop() }
    }

    @Test func `what the disk has changed is fetched again as soon as it is noticed`() async throws {
        let (a, b) = (try Self.node(), try Self.node { $0.attachmentBytesFetched = 0 })
        try await connect(a, b)
        let content = Self.content(600_000)
        let id = try a.store.attach(content)
        #expect(try b.store.attach(content) == id)
        try a.add(id)
        try await b.until { b.count == 1 }
        guard case .present(let file) = b.store.attachmentState(id) else { return }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.url.path)
        try Data(content.dropLast() + [content[599_999] ^ 1]).write(to: file.url)
        #expect(try b.store.verifyAttachments() == [id])
        try await b.until { try b.store.verifyAttachments().isEmpty }
        #expect([UInt8](try Data(contentsOf: file.url)) == content)
        await a.stop()
        await b.stop()
    }

    @Test func `bytes that come later are told to who asked and are seen by observations`() async throws {
        let (a, b) = (try Self.node(), try Self.node())
        try await connect(a, b)
        // The row names an attachment that is nowhere yet.
        let content = Self.content(300_000)
        let id = try a.store.attach(content)
        guard case .present(let file) = a.store.attachmentState(id) else { return }
        let aside = file.url.appendingPathExtension("away")
        try FileManager.default.moveItem(at: file.url, to: aside)
        let states = ValueObservation.tracking { db in
            try String.fetchAll(db, sql: "SELECT coalesce(file, '') FROM photo").compactMap { AttachmentID($0) }
        }
        let seen = Mutex<[AttachmentState]>([])
        let observation = states.start(in: b.database, scheduling: .async(onQueue: .global()), onError: { _ in }) { [store = b.store] ids in
            seen.withLock { $0 += ids.map(store.attachmentState) }
        }
        try a.add(id)
        try await b.until { b.count == 1 }
        try FileManager.default.moveItem(at: aside, to: file.url)
        try b.store.fetchAttachment(id)
        await b.stop()
        let port = try await a.port()
        try b.trust.remove(a.key.id)
        try b.trust(a, port: port)
        b.start()
        try await b.until { seen.withLock { states in states.contains { if case .present = $0 { true } else { false } } } }
        observation.cancel()
        await a.stop()
        await b.stop()
    }

    @Test func `a transfer that is not remembered any more is taken up from the disk`() throws {
        let (a, b) = (try Self.node(), try Self.node())
        let exchange = AttachmentExchange(b.store, logger: Logger(label: "test"))
        // One more than are remembered.
        let ids = try (0...2 * AttachmentLimits.transfersMax).map { try a.store.attach(Self.content(300_000 + $0)) }
        for id in ids {
            let outline = try #require(try a.store.piece(AttachmentPiece(id, chunk: nil)))
            #expect(try exchange.keep(outline, id) == .holds(id, .init(held: 0, chunks: 2)))
        }
        for (held, id) in [(1, ids[0]), (1, ids[1]), (2, ids[0])] {
            let chunk = try #require(try a.store.piece(AttachmentPiece(id, chunk: held - 1)))
            #expect(try exchange.keep(chunk, id) == (held == 2 ? .completed(id) : .holds(id, .init(held: held, chunks: 2))))
        }
    }

    @Test(arguments: ["attached", "removed", "fetched by another process"])
    func `what becomes of an attachment while it is fetched leaves it whole, and blames nobody`(how: String) throws {
        let (a, b) = (try Self.node(), try Self.node())
        let exchange = AttachmentExchange(b.store, logger: Logger(label: "test"))
        let content = Self.content(4 * AttachmentLimits.chunkBytes)
        let id = try a.store.attach(content)
        func piece(_ chunk: Int?) throws -> AttachmentMessage { try #require(try a.store.piece(AttachmentPiece(id, chunk: chunk))) }
        for chunk in [nil, 0] { _ = try exchange.keep(piece(chunk), id) }
        switch how {
        case "attached": #expect(try b.store.attach(content) == id)
        case "removed": try FileManager.default.removeItem(atPath: b.store.database.path + "-kith-files")
        default:
            let tables = [TrackedTable("photo", attachments: ["file"])]
            let other = try SyncedDatabase(DatabasePool(path: b.store.database.path), tables: tables)
            var incoming = try #require(try other.incomingAttachment(id))
            for chunk in 1...2 {
                guard case .chunk(_, let index, let bytes) = try piece(chunk) else { return #expect(Bool(false)) }
                try incoming.append(bytes, chunk: index)
            }
            other.close()
        }
        let answers = try [1, 2].map { try exchange.keep(piece($0), id) }
        switch how {
        case "attached": #expect(answers == [.completed(id), .completed(id)])
        case "removed": #expect(answers == [.holds(id, nil), .holds(id, nil)])
        default: #expect(answers == [.holds(id, nil), .holds(id, .init(held: 3, chunks: 4))])
        }
        for chunk in how == "removed" ? 0..<4 : 3..<4 { _ = try exchange.keep(piece(chunk), id) }
        guard case .present(let file) = b.store.attachmentState(id) else { return #expect(Bool(false)) }
        #expect([UInt8](try Data(contentsOf: file.url)) == content)
        #expect(!FileManager.default.fileExists(atPath: file.url.path + ".part"))
    }

    @Test(.timeLimit(.minutes(1))) func `an attachment that cannot be written keeps no other away`() async throws {
        let (a, b) = (try Self.node(), try Self.node())
        let (stuck, other) = (try a.store.attach(Self.content(700_000)), try a.store.attach(Self.content(1_000)))
        let (folder, name) = (b.store.database.path + "-kith-files", stuck.description)
        // What was asked for comes first.
        try b.store.fetchAttachment(stuck)
        let part = "\(folder)/\(name.prefix(2))/\(name.dropFirst(2)).part"
        try FileManager.default.createDirectory(atPath: part, withIntermediateDirectories: true)
        for id in [stuck, other] { try a.add(id) }
        try await connect(a, b)
        try await b.until { if case .present = b.store.attachmentState(other) { true } else { false } }
        for node in [a, b] { await node.stop() }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [(0, 100), (11, 100), (12, 108), (3_000, 27_000)])
    func `the store is left alone nine times as long as it looked for attachments, and never for less than 100 ms`(
        lookMilliseconds: Int, pauseMilliseconds: Int
    ) async throws {
        let clock = LookClock(step: .milliseconds(lookMilliseconds))
        let node = try Self.node()
        defer { withExtendedLifetime(node) {} }
        let exchange = AttachmentExchange(node.store, logger: Logger(label: "test"), clock: clock)
        let running = Task { await exchange.refresh() }
        for number in 1...3 {
            exchange.storeChanged()
            #expect(await clock.pause() == .milliseconds(pauseMilliseconds))
            // Commits wait for the pause to end, however many.
            for _ in 0..<100 {
                exchange.storeChanged()
                await Task.yield()
            }
            #expect(clock.looks == number)
            clock.endPause()
        }
        running.cancel()
        clock.endPauses()
        await running.value
    }

    @Test func `what members say they have takes bounded room as long as it cannot be written down`() throws {
        let node = try Self.node()
        let store = node.store
        let (book, members) = (HoldingBook(store, logger: Logger(label: "test")), [[1], [2]] as [[UInt8]])
        try store.setMembers(members)
        func id(_ number: Int) -> AttachmentID? { AttachmentID(bytes: (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }) }
        let honest = (1...3).compactMap(id)
        book.hear(AttachmentHoldings(.only, honest), from: members[0])
        for start in stride(from: 0, to: 2 * AttachmentLimits.holdingsMax, by: 1_024) {
            let kind: AttachmentHoldings.Kind = start % 2_048 == 0 ? .also : .noLonger
            book.hear(AttachmentHoldings(kind, (start..<start + 1_024).compactMap(id)), from: members[1])
            #expect(book.newsCount <= AttachmentLimits.holdingsMax)
        }
        // What the other one says counts all the same.
        book.note()
        #expect(book.newsCount == 0)
        let count = try node.database.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM kith_holding WHERE device = ?", arguments: [Data(members[0])])
        }
        #expect(count == 3)
    }

    /// Content in which no two chunks are equal.
    static func content(_ count: Int) -> [UInt8] {
        var number: UInt64 = 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            number &+= 0x9E37_79B9_7F4A_7C15
            withUnsafeBytes(of: number) { bytes += $0 }
        }
        return Array(bytes.prefix(count))
    }

    private func connect(_ a: TestNode, _ b: TestNode) async throws {
        try a.trust(b)
        a.start()
        try b.trust(a, port: try await a.port())
        b.start()
        try await a.until { a.node.status.peers.first?.state == .connected }
    }
}

/// A clock that goes on by a step each time it is read, and whose sleepers sleep until they are woken.
private final class LookClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset = Swift.Duration.zero

        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant()
        var readings = 0
    }

    private let step: Swift.Duration
    private let state = Mutex(State())
    private let pauses = AsyncStream.makeStream(of: Swift.Duration.self)
    private let ends = AsyncStream.makeStream(of: Void.self)

    init(step: Swift.Duration) {
        self.step = step
    }

    let minimumResolution = Swift.Duration.nanoseconds(1)

    var now: Instant {
        state.withLock { state in
            defer {
                state.now = state.now.advanced(by: step)
                state.readings += 1
            }
            return state.now
        }
    }

    /// A look reads the clock twice, and a pause after it once.
    var looks: Int { state.withLock { ($0.readings + 2) / 3 } }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        let begin = state.withLock { $0.now.advanced(by: .zero - step) }
        pauses.continuation.yield(begin.duration(to: deadline))
        var end = ends.stream.makeAsyncIterator()
        await end.next()
    }

    /// Waits for a pause to begin, and says how long it is to be.
    func pause() async -> Swift.Duration? {
        var next = pauses.stream.makeAsyncIterator()
        return await next.next()
    }

    func endPause() { ends.continuation.yield() }
    func endPauses() { ends.continuation.finish() }
}

extension TestNode {
    func add(_ attachment: AttachmentID?) throws {
        try database.write { db in
            try db.execute(sql: "INSERT INTO photo (id, file) VALUES (randomblob(16), ?)", arguments: [attachment?.description])
        }
    }

    fileprivate var count: Int { (try? database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM photo") }) ?? 0 }
}
