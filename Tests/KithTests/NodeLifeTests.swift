import Foundation
import GRDB
import Synchronization
import Testing

@testable import Kith

/// The risk: an app that goes to the background and comes back, or shows the status in more than one place, sees nothing any more.
@Suite struct NodeLifeTests {
    @Test func `every reader of the status gets what is true now and what comes later`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        let early = Reader(a.node)
        try await a.until { early.states == [.stopped] }
        a.node.board.runs(true)
        let late = Reader(a.node)
        try await a.until { early.states.last == .localOnly && late.states == [.localOnly] }
        // One that goes takes nothing from the others, and comes back at will.
        await early.end()
        try await a.until { a.node.board.readerCount == 1 }
        let again = Reader(a.node)
        try a.trust(b)
        a.node.board.trust(a.trust)
        try await a.until { late.states.last == .waiting && again.states.last == .waiting }
        #expect(early.states.last == .localOnly)
        for reader in [late, again] { await reader.end() }
        try await a.until { a.node.board.readerCount == 0 }
    }

    @Test func `readers end with the node`() async throws {
        let a = try TestNode()
        var board: StatusBoard? = StatusBoard()
        var iterator = try #require(board).statuses.makeAsyncIterator()
        #expect(await iterator.next()?.state == .stopped)
        board = nil
        #expect(await iterator.next() == nil)
        await a.stop()
    }

    @Test func `a node that goes to the background and comes back is in step again each time`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try a.trust(b)
        let running = Task { [node = a.node] in try await node.run() }
        try b.trust(a, port: try await a.port())
        let reader = Reader(b.node)
        for round in 1...4 {
            let foreground = Task { [node = b.node] in try await node.run() }
            try await b.until { b.node.status.state == .upToDate }
            try a.add("from a \(round)")
            try await b.until { try b.titles().contains("from a \(round)") }
            foreground.cancel()
            try await foreground.value
            #expect(b.node.status.state == .stopped && b.node.status.port == nil)
            #expect(b.node.status.peers.allSatisfy { $0.state == .notReachable })
            // A reader that is slow needs only what is true now.
            try await b.until { reader.states.last == .stopped }
            // In the background of one, and in both at once.
            try a.add("while b is away \(round)")
            try b.add("while nobody looks \(round)")
            try await a.until { a.node.status.peers.allSatisfy { $0.state == .notReachable } }
        }
        #expect(try b.titles().count == 4 + 3 + 4)
        let foreground = Task { [node = b.node] in try await node.run() }
        for node in [a, b] { try await node.until { try node.titles().count == 12 && node.node.status.state == .upToDate } }
        try await b.until { reader.states.last == .upToDate }
        #expect(reader.states.filter { $0 == .stopped }.count >= 4)
        for task in [foreground, running] {
            task.cancel()
            try await task.value
        }
        await reader.end()
    }

    @Test func `attachments come also after it was stopped`() async throws {
        let sql = "CREATE TABLE photo (id BLOB PRIMARY KEY NOT NULL, file TEXT)"
        let tables = [TrackedTable("photo", attachments: ["file"])]
        let (a, b) = (try TestNode(sql: sql, tables: tables), try TestNode(sql: sql, tables: tables))
        try a.trust(b)
        a.start()
        try b.trust(a, port: try await a.port())
        for round in 1...2 {
            let foreground = Task { [node = b.node] in try await node.run() }
            let id = try a.store.attach(Array(repeating: UInt8(round), count: 300_000))
            try await a.database.write { db in
                try db.execute(sql: "INSERT INTO photo (id, file) VALUES (randomblob(16), ?)", arguments: [id.description])
            }
            try await b.until { if case .present = b.store.attachmentState(id) { true } else { false } }
            foreground.cancel()
            try await foreground.value
        }
        await a.stop()
    }

    @Test func `one that runs is not run twice`() async throws {
        let a = try TestNode()
        a.start()
        try await a.until { a.node.status.state == .localOnly }
        await #expect {
            try await a.node.run()
        } throws: { error in
            (error as? NodeError)?.code == .alreadyRunning
        }
        #expect(a.node.status.state == .localOnly)
        await a.stop()
        #expect(a.node.status.state == .stopped)
    }

    /// One reader of a node's status, and what it has seen.
    private final class Reader: Sendable {
        private let task: Task<Void, Never>
        private let seen: Seen

        private final class Seen: Sendable {
            let states = Mutex<[NodeStatus.State]>([])
        }

        init(_ node: Node) {
            let (statuses, seen) = (node.statuses, Seen())
            self.seen = seen
            task = Task {
                for await status in statuses { seen.states.withLock { $0.append(status.state) } }
            }
        }

        var states: [NodeStatus.State] { seen.states.withLock { $0 } }

        func end() async {
            task.cancel()
            await task.value
        }
    }
}
