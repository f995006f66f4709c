import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import KithText
import Synchronization

/// A member that writes a million changes into one text, none of which knows another, while the app saves.
///
/// In processes of their own: memory is counted.
struct FloodBenchmarks {
    private let count: Int
    private let isShuffled: Bool

    struct Report: Codable {
        var longestSaveSeconds = 0.0
        var medianSaveSeconds = 0.0
        var seconds = 0.0
        var peakMiB = 0.0
        var waitingChanges = 0
    }

    /// `nil` if this process was not started by ``measure(count:)``.
    init?(arguments: [String]) {
        guard arguments.count == 4, arguments[1] == "flood", let count = Int(arguments[2]) else { return nil }
        self.count = count
        isShuffled = arguments[3] == "shuffled"
    }

    static func measure(count: Int) throws -> [Line] {
        try ["in order", "shuffled"].flatMap { order in
            let report = try BenchProcess<Report>(["flood", String(count), order]).finish()
            let work = "\(count) changes of one text that know nothing of each other, \(order)"
            let waiting = report.waitingChanges == 0 ? "" : ", \(report.waitingChanges) set aside"
            return [
                Line(
                    name: "P17", work: "\(work): the longest save of the app meanwhile", ours: format(report.longestSaveSeconds),
                    limit: format(report.medianSaveSeconds), ratio: nil, goal: "≤ 50 ms"),
                Line(
                    name: "P17", work: "the same: until all is done\(waiting)", ours: format(report.seconds), limit: "–", ratio: nil,
                    goal: "≤ 60 s"),
                Line(
                    name: "P17", work: "the same: most memory", ours: String(format: "%.0f MiB", report.peakMiB), limit: "–", ratio: nil,
                    goal: "≤ 256 MiB"),
            ]
        }
    }

    private final class Saves: Sendable {
        let seconds = Mutex<[Double]>([])
        let isOver = Mutex(false)
    }

    func run() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kith-flood-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pool = try DatabasePool(path: folder.appending(path: "pages.sqlite").path)
        try pool.write { try $0.execute(sql: "CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, title TEXT, body TEXT)") }
        let store = try SyncedDatabase(pool, tables: [TrackedTable("page", texts: ["body"])])
        let (own, theirs) = (RowID(UUID()), RowID(UUID()))
        try pool.write { try $0.execute(sql: "INSERT INTO page VALUES (?, 'own', 'text')", arguments: [Data(own.bytes)]) }
        let saves = Saves()
        let thread = Thread {
            var number = 0
            while !saves.isOver.withLock(\.self) {
                let start = ContinuousClock.now
                number += 1
                do {
                    try pool.write {
                        try $0.execute(sql: "UPDATE page SET title = ? WHERE id = ?", arguments: ["title \(number)", Data(own.bytes)])
                    }
                } catch {
                    fatalError("A save failed: \(error)")
                }
                let time = start.duration(to: .now)
                saves.seconds.withLock { $0.append(Double(time.components.attoseconds) / 1e18 + Double(time.components.seconds)) }
                Thread.sleep(forTimeInterval: 0.003)
            }
        }
        thread.start()
        var report = Report()
        let start = ContinuousClock.now
        var sequences = Array(1...UInt64(count))
        if isShuffled { sequences.shuffle() }
        while !sequences.isEmpty {
            let part = sequences.prefix(1 << 16)
            sequences.removeFirst(part.count)
            try apply(Array(part), to: theirs, isLast: sequences.isEmpty, store)
        }
        let time = start.duration(to: .now)
        report.seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        saves.isOver.withLock { $0 = true }
        while !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
        let times = saves.seconds.withLock(\.self).sorted()
        report.longestSaveSeconds = times.last ?? 0
        report.medianSaveSeconds = times[times.count / 2]
        report.waitingChanges = try pool.read { try Int.fetchOne($0, sql: "SELECT coalesce(sum(count), 0) FROM kith_text_portion") ?? 0 }
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }?.split(whereSeparator: { !$0.isNumber }).first
        report.peakMiB = Double(peak.flatMap { Int($0) } ?? 0) / 1_024
        print(try String(decoding: JSONEncoder().encode(report), as: UTF8.self))
    }

    /// Applies what a frame brings. Each vector covers all commits, as a liar says.
    private func apply(_ sequences: [UInt64], to row: RowID, isLast: Bool, _ store: SyncedDatabase) throws {
        let replica = ReplicaID(high: 9, low: 9)
        let time = HybridTimestamp(milliseconds: 1_700_000_000_000)
        let last = Dot(replica: replica, sequence: UInt64(count))
        let operations: TextOperations = [.insert("x", at: 0)]
        let (steps, inserted) = (operations.encodedSteps, operations.encodedText)
        let bytes: [UInt8]
        do {
            let changes = sequences.map { sequence in
                TextState.Change(
                    stamp: Stamp(dot: Dot(replica: replica, sequence: sequence), timestamp: time), parents: [], steps: steps,
                    inserted: inserted)
            }
            let text = TextState(touched: VersionVector([last]), present: [last], changes: changes)
            let since = try store.vector()
            let slice = Slice(
                since: since, vector: since.joined(with: VersionVector([last])), target: [Head(dot: last, timestamp: time)], clock: time,
                isFirst: true, isLast: true, position: nil, rowsRemaining: 0,
                tables: [TableSchema(name: Array("page".utf8), columns: [ColumnKey("body", .text)])],
                rows: [RowPart(table: 0, id: row, state: RowState(cells: [.init(column: 0, cell: .text(text))]))])
            bytes = FrameCodec.encode(.slice(slice, alsoSentTo: []))
        }
        guard case .slice(let slice, _) = try FrameCodec.decode(bytes), case .applied = try store.apply(slice) else {
            fatalError("The store refuses a slice.")
        }
    }
}
