import Foundation

/// What others take for the same work, measured in the same run if they are installed; `Benchmarks/peers` drives them.
enum Peers {
    private static let scripts = URL(filePath: #filePath).appending(path: "../../../peers").standardized
    /// The Python that has the peers' libraries.
    private static let python = ProcessInfo.processInfo.environment["KITH_PYTHON"] ?? "python3"

    private struct Result: Decodable {
        var seconds: Double
        var mebibytes: Double?
        var version: String?
    }

    /// Syncthing, with one file for each note.
    static func firstSync(count: Int) async throws -> [Line] {
        let notes = Corpus.notes(count)
        let file = FileManager.default.temporaryDirectory.appending(path: "kith-notes-\(UUID().uuidString).jsonl")
        defer { try? FileManager.default.removeItem(at: file) }
        let encoder = JSONEncoder()
        let lines = try notes.map { String(decoding: try encoder.encode(["title": $0.title, "body": $0.body]), as: UTF8.self) + "\n" }
        try Data(lines.joined().utf8).write(to: file)
        guard let theirs = try run("syncthing.py", [file.path]) else { return [] }
        let ours = try await NodeBenchmarks.seconds(toSync: notes)
        return [
            Line(
                name: "P4", work: "first sync of \(count) notes, against Syncthing (\(Int(theirs.mebibytes ?? 0)) MiB)", ours: format(ours),
                limit: format(theirs.seconds), ratio: ours / theirs.seconds, goal: "≤ 0.02")
        ]
    }

    /// Loro and Yrs, which are driven from Python.
    static func paper(_ ours: Double) throws -> [Line] {
        let trace = Trace.file(Trace.paper).path
        return try ["loro", "yrs"].compactMap { library in
            guard let theirs = try run("texts.py", [library, trace]) else { return nil }
            return Line(
                name: "T2", work: "the same typed into \(library) \(theirs.version ?? ""), processor time", ours: format(ours),
                limit: format(theirs.seconds), ratio: ours / theirs.seconds, goal: "")
        }
    }

    /// - Returns: `nil` if the peer is not installed, or failed.
    private static func run(_ script: String, _ arguments: [String]) throws -> Result? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [python, scripts.appending(path: script).path] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        switch process.terminationStatus {
        case 0: return try JSONDecoder().decode(Result.self, from: data)
        // 3: the peer is missing; 127: Python is.
        case 3, 127: return nil
        default:
            FileHandle.standardError.write(Data("\(script) failed, and is left out; what it says is above.\n".utf8))
            return nil
        }
    }
}
