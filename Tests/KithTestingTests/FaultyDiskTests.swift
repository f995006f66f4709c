import Foundation
import GRDB
import Testing

@testable import KithTesting

/// Risk: the disk that is to forget forgets nothing, or what was synced, or answers no error, and all that is tried on it proves nothing.
@Suite struct FaultyDiskTests {
    private static let sectorBytes = 512
    private static let pageBytes = 4_096

    /// Runs `body` with a database on such a disk, all of which was synced.
    private static func withDisk(_ body: (FaultyDisk, _ path: String, DatabaseQueue) throws -> Void) throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let disk = try FaultyDisk(folder: scratch.url.path)
        defer { disk.remove() }
        let path = scratch.url.appendingPathComponent("app.sqlite").path
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in try db.execute(sql: "CREATE TABLE part (content BLOB)") }
        try insert(queue)
        disk.settle()
        try body(disk, path, queue)
        try queue.close()
    }

    private static func insert(_ queue: DatabaseQueue) throws {
        try queue.write { db in
            for _ in 0..<20 { try db.execute(sql: "INSERT INTO part VALUES (randomblob(2000))") }
        }
    }

    private static func pieces(_ bytes: [UInt8], of size: Int) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
    }

    @Test func `what was synced survives, and of the rest nothing, a beginning, or any sectors`() throws {
        try Self.withDisk { disk, path, queue in
            let before = try [UInt8](Data(contentsOf: URL(filePath: path)))
            try queue.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
            try Self.insert(queue)
            let after = try [UInt8](Data(contentsOf: URL(filePath: path)))
            let survivors = try (0..<100).map { seed in try #require(try disk.survivor(of: path, seed: seed)) }
            let (old, new) = (Self.pieces(before, of: Self.sectorBytes), Self.pieces(after, of: Self.sectorBytes))
            let unwritten = [UInt8](repeating: 0, count: Self.sectorBytes)[...]
            for survivor in survivors {
                #expect((before.count...after.count).contains(survivor.count))
                for (index, sector) in Self.pieces(survivor, of: Self.sectorBytes).enumerated() {
                    #expect(sector == new[index] || sector == (index < old.count ? old[index] : unwritten), "sector \(index)")
                }
            }
            #expect(survivors.contains(before))
            // A page of which only some sectors are new, and a page that is whole behind one that is not there.
            let pages = Self.pieces(after, of: Self.pageBytes).dropFirst(before.count / Self.pageBytes)
            func parts(_ survivor: [UInt8]) -> [Int] {
                let there = Self.pieces(survivor, of: Self.pageBytes).dropFirst(before.count / Self.pageBytes)
                return zip(pages, there).map { page, there in
                    zip(Self.pieces(Array(page), of: Self.sectorBytes), Self.pieces(Array(there), of: Self.sectorBytes)).count { $0 == $1 }
                }
            }
            let whole = Self.pageBytes / Self.sectorBytes
            #expect(survivors.contains { parts($0).contains { $0 > 0 && $0 < whole } })
            #expect(survivors.contains { zip(parts($0), parts($0).dropFirst()).contains { $0 < whole && $1 == whole } })
            try FaultyDisk.synchronize(path: path)
            for seed in 0..<20 as Range<UInt64> { #expect(try disk.survivor(of: path, seed: seed) ?? after == after) }
        }
    }

    @Test(arguments: [(FaultyDisk.Failure.full, ResultCode.SQLITE_FULL), (.broken, .SQLITE_IOERR)])
    func `it fails as it is asked to, until it works again, and keeps what it had`(failure: FaultyDisk.Failure, code: ResultCode) throws {
        try Self.withDisk { disk, _, queue in
            for count in 0..<4 {
                disk.fail(failure, afterWrites: count)
                #expect(!disk.hasFailed)
                let error = #expect(throws: DatabaseError.self) { try Self.insert(queue) }
                #expect(error?.resultCode == code && disk.hasFailed)
            }
            disk.work()
            try Self.insert(queue)
            #expect(try queue.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM part") } == 40)
            #expect(try queue.read { db in try String.fetchOne(db, sql: "PRAGMA integrity_check") } == "ok")
        }
    }
}
