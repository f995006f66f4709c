import Foundation
import TestSupport
import Testing

@testable import KithSnapshot

@Suite("A program shows a snapshot that is damaged, old or of another format")
struct SnapshotReaderTests {
    private struct Task: Codable, Equatable, Sendable {
        var title: String
        var due: Date?
    }

    private static let written = Date(timeIntervalSince1970: 1_790_000_000)
    private static let version = SnapshotVersion(commits: [
        "0190000000007000000000000000000a": 7, "0190000000007000000000000000000b": 12,
    ])
    private static let tasks = [Task(title: "Milk", due: Date(timeIntervalSince1970: 1_790_002_800)), Task(title: "Straße", due: nil)]

    private static func fixture(_ name: String) throws -> URL {
        try #require(Bundle.module.url(forResource: "Fixtures/\(name)", withExtension: "snapshot"))
    }

    private static func bytes() throws -> Data {
        try SnapshotFormat.bytes(
            name: "top", date: written, version: version, validUntil: written.addingTimeInterval(86_400),
            nextMoment: written.addingTimeInterval(3_600), encoding: "json", content: try SnapshotFormat.json(tasks))
    }

    private static func reader(_ url: URL, at seconds: TimeInterval = 1) -> SnapshotReader {
        SnapshotReader(url) { written.addingTimeInterval(seconds) }
    }

    /// What a reader says of a file with these bytes.
    private static func reading(_ bytes: Data, _ folder: TemporaryFolder) throws -> SnapshotReading<[Task]> {
        let url = URL(filePath: folder.file("x"))
        try bytes.write(to: url)
        return reader(url).read([Task].self)
    }

    @Test func `the format is that of the golden file, byte by byte`() throws {
        let golden = try Data(contentsOf: Self.fixture("format-1"))
        #expect(try Self.bytes() == golden)
        let snapshot = try #require(Self.reader(try Self.fixture("format-1")).read([Task].self).snapshot)
        #expect(snapshot.name == "top" && snapshot.date == Self.written && snapshot.version == Self.version)
        #expect(snapshot.validUntil == Self.written.addingTimeInterval(86_400))
        #expect(snapshot.nextMoment == Self.written.addingTimeInterval(3_600))
        #expect(snapshot.content == Self.tasks && snapshot.skipped == 0)
    }

    @Test func `a file is ok, missing, stale, or of a later format`() throws {
        let url = try Self.fixture("format-1")
        let snapshot = try #require(Self.reader(url).read([Task].self).snapshot)
        #expect(Self.reader(url).read([Task].self) == .ok(snapshot))
        #expect(Self.reader(url, at: 86_400).read([Task].self) == .ok(snapshot))
        #expect(Self.reader(url, at: 86_401).read([Task].self) == .stale(snapshot))
        #expect(Self.reader(try Self.fixture("format-2")).read([Task].self) == .newer(format: 2))
        let folder = try TemporaryFolder()
        #expect(SnapshotReader(URL(filePath: folder.file("none"))).read([Task].self) == .missing)
        #expect(SnapshotReader(URL(filePath: folder.file("no/folder"))).read([Task].self) == .missing)
        guard case .damaged(.unreadable) = SnapshotReader(URL(filePath: folder.path)).read([Task].self) else { throw CancellationError() }
    }

    @Test func `a file that was cut anywhere, or of which any byte is another, is damaged`() throws {
        let folder = try TemporaryFolder()
        let whole = try Self.bytes()
        for length in 0..<whole.count {
            let reading = try Self.reading(whole.prefix(length), folder)
            #expect(reading == .damaged(length < 29 ? .notASnapshot : .changed), "\(length)")
        }
        #expect(try Self.reading(whole + Data([10]), folder) == .damaged(.changed))
        for place in whole.indices {
            var changed = whole
            changed[place] ^= 1
            switch try Self.reading(changed, folder) {
            case .damaged: break
            // The version of the format says how to read the rest, so nothing proves it.
            case .newer: #expect(place == 14)
            case .ok, .stale, .missing: Issue.record("byte \(place)")
            }
        }
    }

    @Test(arguments: [
        "", "\n", "kith-snapshot", "kith-snapshot \n", "kith-snapshot 0 0 00000000\n", "kith-snapshot -1 0 00000000\n",
        "kith-snapshot 99999999999999999999 0 00000000\n", "kith-snapshot 1\n", "kith-snapshot 1 0 0\n", "kith-snapshot 1 0 00000000\n",
        "kith-snapshot 1 -1 00000000\n", "<html>", "\u{0}\u{0}\u{0}",
    ])
    func `other files are damaged`(text: String) throws {
        let reading = try Self.reading(Data(text.utf8), try TemporaryFolder())
        let isDamaged = if case .damaged = reading { true } else { false }
        #expect(isDamaged, "\(reading)")
    }

    @Test func `what is no file is not read, and not waited for`() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        for path in [folder.file("pipe"), folder.path] {
            #expect(Self.reader(URL(filePath: path)).bytes() == .damaged(.unreadable("It is no file.")))
        }
    }

    @Test func `a file is as long as allowed, and no longer`() throws {
        let folder = try TemporaryFolder()
        func bytes(_ extra: Int) throws -> Data {
            let rest = try Self.bytes().count - SnapshotFormat.json(Self.tasks).count + 5
            let text = String(repeating: "x", count: SnapshotFormat.bytesMax - rest - 2 + extra)
            return try SnapshotFormat.bytes(
                name: "top", date: Self.written, version: Self.version, validUntil: Self.written.addingTimeInterval(86_400),
                nextMoment: Self.written.addingTimeInterval(3_600), encoding: "json", content: SnapshotFormat.json(text))
        }
        #expect(try bytes(1).count == SnapshotFormat.bytesMax)
        let url = URL(filePath: folder.file("x"))
        try bytes(1).write(to: url)
        #expect(Self.reader(url).read(String.self).snapshot != nil)
        try bytes(2).write(to: url)
        #expect(Self.reader(url).read(String.self) == .damaged(.tooLong))
    }

    @Test func `of a list, elements of another shape are left out and counted; a content of another shape is damaged`() throws {
        let folder = try TemporaryFolder()
        let url = URL(filePath: folder.file("x"))
        func write(_ json: String) throws {
            try SnapshotFormat.bytes(
                name: "top", date: Self.written, version: Self.version, validUntil: nil, nextMoment: nil, encoding: "json",
                content: Data(json.utf8)
            ).write(to: url)
        }
        try write(#"[{"title":"Milk"},{"name":"Tea"},null,7,{"title":"Salt","more":[1]}]"#)
        let rows = try #require(Self.reader(url).rows(of: Task.self).snapshot)
        #expect(rows.content.map(\.title) == ["Milk", "Salt"] && rows.skipped == 3)
        guard case .damaged(.content) = Self.reader(url).read([Task].self) else { throw CancellationError() }
        try write("{}")
        guard case .damaged(.content) = Self.reader(url).rows(of: Task.self) else { throw CancellationError() }
        #expect(Self.reader(url).bytes().snapshot?.content == Data("{}".utf8))
    }

    @Test func `a version includes what it stands for`() {
        let less = SnapshotVersion(commits: ["0190000000007000000000000000000a": 7])
        #expect(Self.version.includes(less) && !less.includes(Self.version) && Self.version.includes(Self.version))
    }

    @Test(arguments: [("", UInt32(0)), ("123456789", 0xCBF4_3926)])
    func `the checksum is CRC-32`(text: String, sum: UInt32) {
        #expect(Checksum.of(Array(text.utf8)) == sum)
    }

    // MARK: Writing

    @Test func `a file is replaced as a whole, and what killed processes left goes`() throws {
        let folder = try TemporaryFolder()
        let file = SnapshotFile(URL(filePath: folder.file("top")))
        for name in [".top.999999999.kith-new", ".top.\(getpid()).kith-new", ".top.x.kith-new", ".other.999999999.kith-new"] {
            try Data("half".utf8).write(to: URL(filePath: folder.file(name)))
        }
        file.tidy()
        try file.replace(with: try Self.bytes())
        #expect(try file.held()?.snapshot.content == (try SnapshotFormat.json(Self.tasks)))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == [".other.999999999.kith-new", ".top.x.kith-new", "top"])
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("top"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `what the system refuses has a code and a remedy, and the file stays`() throws {
        #expect(SnapshotFile.failure(ENOSPC, "x").code == .diskFull && SnapshotFile.failure(EROFS, "x").code == .readOnly)
        #expect(SnapshotFile.failure(EIO, "x").code == .failed)
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file("top"), withIntermediateDirectories: false)
        try Data().write(to: URL(filePath: folder.file("top/x")))
        #expect(throws: SnapshotError.self) { try SnapshotFile(URL(filePath: folder.file("top"))).replace(with: Data()) }
        #expect { try SnapshotFile(URL(filePath: folder.file("none/top"))).replace(with: Data()) } throws: {
            ($0 as? SnapshotError)?.code == .readOnly
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["top"])
    }
}
