import Foundation

/// Another process of this program, which prints its report as JSON at its end.
struct BenchProcess<Report: Decodable> {
    private let process = Process()
    private let output = Pipe()

    init(_ arguments: [String]) throws {
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
    }

    func finish() throws -> Report {
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try JSONDecoder().decode(Report.self, from: data)
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}

/// What the kernel says of this process (proc(5)).
enum ProcessFigures {
    /// Memory, files that are mapped not counted, in KiB.
    static var anonymousKiB: Int { number("RssAnon:", in: "status") }
    /// All memory, in KiB.
    static var residentKiB: Int { number("VmRSS:", in: "status") }
    /// Bytes that were sent to the disk so far.
    static var writtenBytes: Int { number("write_bytes:", in: "io") }

    private static func number(_ name: String, in file: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/\(file)", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.split(whereSeparator: \.isWhitespace).dropFirst().first ?? "") } ?? 0
    }
}
