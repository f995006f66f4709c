import Foundation
import GRDB
import Kith

/// A node that has nothing to do: its notes are those of its three peers, each in a process of its own.
struct IdleNode {
    private static let peers = 3
    private static let watchedSeconds = 60

    let folder: URL
    let index: Int
    let port: Int
    private let count: Int

    struct Report: Codable {
        var residentKiB = 0
        var anonymousKiB = 0
        var processorSeconds = 0.0
        var writtenBytes = 0
    }

    /// `nil` if this process was not started by ``measure(count:)``.
    init?(arguments: [String]) {
        guard arguments.count == 6, arguments[1] == "idle", let index = Int(arguments[3]), let port = Int(arguments[4]),
            let count = Int(arguments[5])
        else { return nil }
        folder = URL(filePath: arguments[2])
        self.index = index
        self.port = port
        self.count = count
    }

    // MARK: The whole

    static func measure(count: Int) throws -> [Line] {
        let root = FileManager.default.temporaryDirectory.appending(path: "kith-idle-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let folders = (0...peers).map { root.appending(path: String($0)) }
        try FileManager.default.createDirectory(at: folders[0], withIntermediateDirectories: true)
        let port = 40_000 + Int(ProcessInfo.processInfo.processIdentifier) % 20_000
        func start(_ index: Int) throws -> BenchProcess<Report> {
            try BenchProcess(["idle", folders[index].path, String(index), String(port), String(count)])
        }
        // In a process of its own, so that the others have copies of a file that is closed; a copy takes a replica id of its own.
        let filling: BenchProcess<Report> = try BenchProcess(["idle", folders[0].path, "-1", String(port), String(count)])
        _ = try filling.finish()
        for folder in folders.dropFirst() { try FileManager.default.copyItem(at: folders[0], to: folder) }
        try trustEachOther(folders, port)
        let others = try (1...peers).map(start)
        defer { for other in others { other.stop() } }
        let report = try start(0).finish()
        let load = 100 * report.processorSeconds / Double(watchedSeconds)
        let work = "idle with \(count) notes and \(peers) peers, \(watchedSeconds) s"
        return [
            Line(
                name: "P9", work: "\(work): memory",
                ours: "\(report.residentKiB / 1_024) MiB (\(report.anonymousKiB / 1_024) without mapped files)", limit: "", ratio: nil,
                goal: "≤ 40 MB"),
            Line(name: "P9", work: "\(work): processor", ours: String(format: "%.3f %%", load), limit: "", ratio: nil, goal: "≤ 0.1 %"),
            Line(name: "P9", work: "\(work): written", ours: "\(report.writtenBytes) bytes", limit: "", ratio: nil, goal: "none"),
        ]
    }

    private static func trustEachOther(_ folders: [URL], _ port: Int) throws {
        let keys = try folders.map { try DeviceKey.loadOrCreate(in: $0.appending(path: "keys")) }
        for (index, folder) in folders.enumerated() {
            let trust = try TrustStore(in: folder.appending(path: "keys"), ownID: keys[index].id)
            for other in folders.indices where other != index {
                // The node that is watched is dialled by the others.
                let addresses = other == 0 ? [try PeerAddress(host: "127.0.0.1", port: port)] : []
                try trust.add(TrustedDevice(id: keys[other].id, name: "peer \(other)", addresses: addresses, added: Date()))
            }
        }
    }

    // MARK: One process

    func run() async throws {
        if index < 0 { return try fill() }
        let node = try BenchNode(in: folder, port: index == 0 ? port : 0)
        node.start()
        while index > 0 { try await Task.sleep(for: .seconds(3_600)) }
        while node.node.status.peers.filter(\.isInSync).count < Self.peers { try await Task.sleep(for: .milliseconds(50)) }
        // What follows the first meeting (digests, the status file, the collection of garbage after a minute) is not idleness.
        try await Task.sleep(for: .seconds(70))
        let before = (processor: clock(), written: ProcessFigures.writtenBytes)
        try await Task.sleep(for: .seconds(Self.watchedSeconds))
        try say(
            Report(
                residentKiB: ProcessFigures.residentKiB, anonymousKiB: ProcessFigures.anonymousKiB,
                processorSeconds: Double(clock() - before.processor) / Double(CLOCKS_PER_SEC),
                writtenBytes: ProcessFigures.writtenBytes - before.written))
        await node.stop()
    }

    private func fill() throws {
        let notes = try NotesDatabase(tracked: true, in: folder)
        try notes.insert(Corpus.notes(count))
        notes.store?.close()
        try notes.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try say(Report())
    }

    private func say(_ report: Report) throws {
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }
}
