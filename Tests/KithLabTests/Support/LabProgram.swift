#if os(Linux)
import Foundation

/// The `kith` that was built beside the tests, as a person runs it.
enum LabProgram {
    static let path: String = {
        var folder = Bundle.main.executableURL?.deletingLastPathComponent() ?? URL(filePath: "/")
        while !FileManager.default.isExecutableFile(atPath: folder.appending(path: "kith").path), folder.path != "/" {
            folder.deleteLastPathComponent()
        }
        return folder.appending(path: "kith").path
    }()

    /// Runs it to its end; what it prints goes to files in `folder`.
    static func run(_ arguments: [String], in folder: URL) throws -> (status: Int32, output: String, errors: String) {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        let (output, errors) = (folder.appending(path: "output"), folder.appending(path: "errors"))
        for url in [output, errors] { _ = FileManager.default.createFile(atPath: url.path, contents: nil) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return (process.terminationStatus, try String(contentsOf: output, encoding: .utf8), try String(contentsOf: errors, encoding: .utf8))
    }

    static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kith-labtest-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }
}
#endif
