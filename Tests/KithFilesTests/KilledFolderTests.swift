import Foundation
import KithNotes
import KithStore
import TestSupport
import Testing

@testable import KithFiles

/// `KITH_SEED=7` begins with another seed. The moment of a kill depends on the machine all the same.
@Suite("What is written is lost or doubled when kill -9 ends the program that keeps a folder", .timeLimit(.minutes(60)))
final class KilledFolderTests {
    private static let killCount = Soak.count(8, soaking: 400)
    /// The program stands beside the one that runs the tests.
    private static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "kith")

    private let place: TemporaryFolder
    private let folder: NotesFolder
    private var random = SplitMix64(seed: Soak.firstSeed)
    private var words: Set<String> = []

    init() throws {
        place = try TemporaryFolder()
        let notes = try Self.open(place)
        folder = try NotesFolder.add(place.path("Notes"), to: notes)
        try notes.close()
    }

    private static func open(_ place: TemporaryFolder) throws -> NotesStore {
        try NotesStore.open(place.url.appending(path: "home/store/notes.sqlite"))
    }

    private func word() -> String {
        let word = "word\(words.count)w"
        words.insert(word)
        return word
    }

    private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    private func read(_ name: String) throws -> String { try String(contentsOf: URL(filePath: path(name)), encoding: .utf8) }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") && !$0.hasPrefix(".") }.sorted()
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: program.path), "kith is not where the tests are"))
    func `after kill -9 at any moment, what was written into files and notes is there once, and both say the same`() throws {
        for number in 0..<30 { try place.write("Notes/First \(number).md", "\(word())\n") }
        for round in 0..<Self.killCount {
            try writeFiles()
            try writeNotes()
            try runAndKill(round % 4 == 3 ? ["up", "--no-discovery", "--port", "0"] : ["folder", "sync"])
        }
        let notes = try Self.open(place)
        for _ in 0..<10 where try !folder.sync(notes).isQuiet {}
        let report = try folder.sync(notes)
        #expect(report.isQuiet && report.left.isEmpty && report.held == 0, "\(report)")
        #expect(try notes.store.verify().isSound)
        #expect(try notes.trash().isEmpty)
        let texts = try notes.list().map(\.body)
        expectOnce(texts.joined(separator: "\n"), "the notes")
        expectOnce(try files().map(read).joined(separator: "\n"), "the files")
        #expect(try files().count == texts.count)
        let hidden = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(NotesFolder.temporaryPrefix) }
        #expect(hidden.isEmpty)
    }

    private func expectOnce(_ text: String, _ place: String) {
        let found = Dictionary(text.split { !$0.isLetter && !$0.isNumber }.map { (String($0), 1) }, uniquingKeysWith: +)
        #expect(words.filter { found[$0] != 1 }.sorted() == [], "not once in \(place)")
    }

    private func writeFiles() throws {
        let files = try files()
        for _ in 0..<5 {
            let name = random.pick(files)
            try Data((read(name) + word() + "\n").utf8).write(to: URL(filePath: path(name)), options: random.chance(50) ? .atomic : [])
        }
        // A file that is renamed and written before it has an id is another note.
        let (old, new) = (random.pick(files), "Renamed \(words.count).md")
        if try read(old).hasPrefix("---\nid: ") { #expect(rename(path(old), path(new)) == 0) }
    }

    private func writeNotes() throws {
        let notes = try Self.open(place)
        let ids = try notes.list().map(\.id).sorted { $0.uuidString < $1.uuidString }
        try notes.add(title: "Note", body: "\(word())\n")
        for _ in 0..<3 where !ids.isEmpty {
            let word = word()
            try notes.edit(random.pick(ids)) { $0.body = "\(word)\n" + $0.body }
        }
        if !ids.isEmpty { try notes.edit(random.pick(ids)) { $0.title = "Title \(words.count)" } }
        try notes.close()
    }

    private func runAndKill(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = arguments
        process.environment = ["KITH_HOME": place.path("home"), "HOME": place.path("home"), "PATH": "/usr/bin:/bin"]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        // The moment only has to be some moment: while it opens the store, waits, reads or writes.
        Thread.sleep(forTimeInterval: Double(random.below(900)) / 1_000)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
