import Foundation
import GRDB
import KithCausality
import Logging
import Synchronization
import Testing

@testable import Kith
@testable import KithStore

/// The risk: what failed for a moment stays undone until something else happens, or is shown for ever.
@Suite struct RetryTests {
    @Test func `what could not be read is read again and passed on`() async throws {
        let node = try TestNode()
        let obstacles = Mutex<[String?]>([])
        let hub = SessionHub(node.store, retryMilliseconds: 10) { obstacle in obstacles.withLock { $0.append(obstacle) } }
        let task = Task { await hub.run() }
        try await node.database.write { try $0.execute(sql: "ALTER TABLE kith_replica RENAME TO away") }
        hub.handle(.committed(.unknown))
        try await node.until { obstacles.withLock { $0.count } > 2 }
        #expect(obstacles.withLock { $0.allSatisfy { $0 != nil } })
        try await node.database.write { try $0.execute(sql: "ALTER TABLE away RENAME TO kith_replica") }
        try await node.until { obstacles.withLock { $0.last == .some(nil) } }
        task.cancel()
        await task.value
    }

    @Test func `an alarm that rings, is due, or is cancelled wakes its sleeper, at whatever moment`() async throws {
        let alarm = Alarm()
        for round in 0..<3_000 {
            let task = Task { await alarm.sleep(until: round % 3 == 0 ? MonotonicClock.now.advanced(byMilliseconds: 1) : nil) }
            if round % 2 == 0 { await Task.yield() }
            if round % 3 == 1 { alarm.ring() }
            if round % 3 == 2 { task.cancel() }
            await task.value
        }
        // Who rings while nobody sleeps is heard by the next, once.
        alarm.ring()
        await alarm.sleep(until: nil)
        let begun = MonotonicClock.now
        await alarm.sleep(until: begun.advanced(byMilliseconds: 20))
        #expect(MonotonicClock.now >= begun.advanced(byMilliseconds: 20))
    }

    @Test func `the last commit becomes durable once the disk has room again`() async throws {
        let isFull = Mutex(true)
        var options = SyncedDatabase.Options()
        options.synchronizeLog = { _ in
            if isFull.withLock({ $0 }) { throw StoreError(.diskFull, "The disk is full.") }
        }
        let node = try TestNode(options: options)
        try node.add("the last note")
        let board = StatusBoard()
        board.runs(true)
        let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let hub = SessionHub(node.store) { _ in }
        let loop = DurabilityLoop(store: node.store, hub: hub, board: board, changes: changes, retryMilliseconds: 10)
        let task = Task { await loop.run() }
        changed.yield()
        try await node.until { board.current.state == .stalled }
        isFull.withLock { $0 = false }
        try await node.until { board.current.state != .stalled }
        task.cancel()
        await task.value
    }

    /// The mark says that others may know what the disk has not.
    @Test(arguments: [10, 1_000_000])
    func `the store's mark goes when no commit has come for a while, and at the end`(restMilliseconds: Int) async throws {
        let flushes = Mutex(0)
        var options = SyncedDatabase.Options()
        options.synchronizeLog = { _ in flushes.withLock { $0 += 1 } }
        let node = try TestNode(options: options)
        let mark = node.folder.appending(path: "store/test.sqlite-kith-ahead")
        func isMarked() throws -> Bool { try Data(contentsOf: mark).first == UInt8(ascii: "1") }
        let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let hub = SessionHub(node.store) { _ in }
        let loop = DurabilityLoop(
            store: node.store, hub: hub, board: StatusBoard(), changes: changes, retryMilliseconds: 10, restMilliseconds: restMilliseconds)
        try node.add("told")
        let summary = try node.store.summary()
        try node.store.willTell(Dot(replica: summary.replica, sequence: summary.vector[summary.replica]))
        let task = Task { await loop.run() }
        changed.yield()
        try await node.until { flushes.withLock { $0 } == 1 }
        if restMilliseconds == 10 {
            try await node.until { try !isMarked() }
        } else {
            try node.add("not told")
            changed.yield()
            try await node.until { flushes.withLock { $0 } == 2 }
            #expect(try isMarked())
        }
        task.cancel()
        await task.value
        #expect(try !isMarked())
    }

    @Test func `the status that could not be written is written later`() async throws {
        let node = try TestNode()
        let folder = node.folder.appending(path: "not there yet")
        var file = StatusFile(forStore: folder.appending(path: "test.sqlite"))
        file.retryMilliseconds = 10
        let board = StatusBoard()
        let task = Task { [file] in await file.follow(board, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) }
        try await Task.sleep(for: .milliseconds(50))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try await node.until { file.read() == board.current }
        task.cancel()
        await task.value
    }
}
