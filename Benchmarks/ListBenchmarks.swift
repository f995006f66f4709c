import Foundation
import GRDB
import Kith
import KithNotes

/// `kith note list` against the sqlite3 shell with the same query, both from the start of the process to its end.
enum ListBenchmarks {
    /// Where the release build of the program is, unless `KITH_PROGRAM` names it.
    private static let program = ProcessInfo.processInfo.environment["KITH_PROGRAM"] ?? "../.build/release/kith"
    private static let shell = "/usr/bin/sqlite3"
    private static let query = "SELECT id, title, body, color, tags, created, updated FROM note ORDER BY updated DESC, id DESC"

    static func list(rounds: Int, count: Int) throws -> Line {
        let work = "`kith note list` with \(count) notes"
        for tool in [program, shell] where !FileManager.default.isExecutableFile(atPath: tool) {
            return Line(name: "P11", work: work, ours: "not measured: there is no \(tool)", limit: "", ratio: nil, goal: "≤ 2")
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "kith-list-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "notes.sqlite")
        let notes = try NotesStore.open(file)
        try notes.store.database.write { db in
            let insert = try db.cachedStatement(sql: NotesDatabase.insertSQL)
            for note in Corpus.notes(count) { try NotesDatabase.insert(note, insert) }
        }
        try notes.close()
        let result = try compare(
            rounds, { try seconds { try run(program, ["note", "list", "--store", file.path]) } },
            { try seconds { try run(shell, [file.path, query]) } })
        return Line(
            name: "P11", work: work, ours: format(result.ours.median), limit: format(result.limit.median), ratio: result.ratio, goal: "≤ 2")
    }

    private struct Failure: Error {}

    private static func run(_ path: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/null")
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw Failure() }
    }
}
