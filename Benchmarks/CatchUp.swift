import Foundation
import GRDB
import Kith

/// One process of a large catch-up: one fills a store, two synchronise it over loopback and watch their own memory.
struct CatchUp {
    enum Part: String {
        case fill, source, target
    }

    let part: Part
    let folder: URL
    let rows: Int
    let port: Int

    /// What a process says at its end.
    struct Report: Codable {
        var idleKiB = 0
        var peakKiB = 0
        var longestSaveMilliseconds = 0.0
        var saves = 0
        var seconds = 0.0
    }

    /// `nil` if this process was not started by ``measure(rows:)``.
    init?(arguments: [String]) {
        guard arguments.count == 6, arguments[1] == "catch-up", let part = Part(rawValue: arguments[2]), let rows = Int(arguments[4]),
            let port = Int(arguments[5])
        else { return nil }
        self.part = part
        folder = URL(filePath: arguments[3])
        self.rows = rows
        self.port = port
    }

    // MARK: The whole

    static func measure(rows: Int) throws -> [Line] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kith-catch-up-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let folders = ["source", "target"].map { folder.appending(path: $0) }
        for folder in folders { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        let port = 40_000 + Int(ProcessInfo.processInfo.processIdentifier) % 20_000
        _ = try start(.fill, folders[0], rows, port).finish()
        let keys = try folders.map { try DeviceKey.loadOrCreate(in: $0.appending(path: "keys")) }
        for index in 0...1 {
            let addresses = index == 1 ? [try PeerAddress(host: "127.0.0.1", port: port)] : []
            try TrustStore(in: folders[index].appending(path: "keys"), ownID: keys[index].id)
                .add(TrustedDevice(id: keys[1 - index].id, name: "peer", addresses: addresses, added: Date()))
        }
        let source = try start(.source, folders[0], rows, port)
        let target = try start(.target, folders[1], rows, port)
        let received = try target.finish()
        let sent = try source.finish()
        func line(_ side: String, _ report: Report) -> Line {
            Line(
                name: "P5", work: "catch-up of \(rows) rows, \(side): memory above idle; longest save of \(report.saves)",
                ours: "\((report.peakKiB - report.idleKiB) / 1_024) MiB above \(report.idleKiB / 1_024); "
                    + "\(format(report.longestSaveMilliseconds / 1_000))",
                limit: "", ratio: nil, goal: "< 64 MiB; one slice")
        }
        let rate = Double(rows) / received.seconds
        return [
            line("sender", sent), line("receiver", received),
            Line(
                name: "P5", work: "catch-up of \(rows) rows, rate", ours: "\(Int(rate)) rows a second", limit: format(received.seconds),
                ratio: nil,
                goal: ""),
        ]
    }

    private static func start(_ part: Part, _ folder: URL, _ rows: Int, _ port: Int) throws -> BenchProcess<Report> {
        try BenchProcess(["catch-up", part.rawValue, folder.path, String(rows), String(port)])
    }

    // MARK: One part

    func run() async throws {
        let report = part == .fill ? try fill() : try await synchronise()
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }

    private func fill() throws -> Report {
        let notes = try NotesDatabase(tracked: true, in: folder)
        let all = Corpus.smallNotes(rows)
        for start in stride(from: 0, to: rows, by: 10_000) { try notes.insert(all[start..<min(rows, start + 10_000)]) }
        notes.store?.close()
        try notes.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        return Report()
    }

    /// Runs a node until the other side has everything, saving a row of its own five times a second.
    private func synchronise() async throws -> Report {
        let node = try BenchNode(in: folder, port: part == .source ? port : 0)
        var report = Report()
        // A node that stands idle, once it has read and written.
        try save(node, 0)
        _ = try node.count()
        node.start()
        try await Task.sleep(for: .milliseconds(500))
        report.idleKiB = ProcessFigures.anonymousKiB
        let start = ContinuousClock.now
        var nextSave = start
        while true {
            report.peakKiB = max(report.peakKiB, ProcessFigures.anonymousKiB)
            let status = node.node.status
            let isComplete = try status.state == .upToDate && status.peers.first?.isInSync == true && node.count() > rows
            if isComplete || start.duration(to: .now) > .seconds(540) { break }
            if nextSave <= .now, status.peers.first?.state == .connected {
                report.saves += 1
                report.longestSaveMilliseconds = max(report.longestSaveMilliseconds, 1_000 * (try seconds { try save(node, report.saves) }))
                nextSave = .now + .milliseconds(200)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        report.seconds = start.duration(to: .now) / .seconds(1)
        // The other side finishes, too.
        try await Task.sleep(for: .seconds(2))
        report.peakKiB = max(report.peakKiB, ProcessFigures.anonymousKiB)
        await node.stop()
        return report
    }

    private func save(_ node: BenchNode, _ number: Int) throws {
        try node.notes.pool.write { db in
            try db.execute(
                sql: "INSERT INTO note (id, title) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET title = excluded.title",
                arguments: [Data(repeating: part == .source ? 0xfe : 0xff, count: 16), "save \(number)"])
        }
    }
}
