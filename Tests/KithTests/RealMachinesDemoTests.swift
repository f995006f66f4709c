import Foundation
import TestSupport
import Testing

/// What a person runs first.
@Suite(
    "The demo does not end as it says", .timeLimit(.minutes(3)),
    .enabled(if: PrivateLAN.obstacle == nil, "no private LAN on this machine; scripts/lan.sh says why"))
struct RealMachinesDemoTests {
    @Test func `two nodes share a note, an answer is written on the page, and nothing is left behind`() throws {
        let scratch = try TemporaryFolder()
        let process = Process()
        process.executableURL = PrivateLAN.script.deletingLastPathComponent().appending(path: "demo.sh")
        let own = ["KITH": try #require(NotesLAN.kith), "DEMO_NETWORK": "lan", "TMPDIR": scratch.path]
        process.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }
        process.standardInput = FileHandle.nullDevice
        // A file rather than a pipe: what the script leaves running would keep a pipe open.
        let log = scratch.url("log")
        try Data().write(to: log)
        process.standardOutput = try FileHandle(forWritingTo: log)
        process.standardError = process.standardOutput
        try process.run()
        process.waitUntilExit()
        let said = try String(contentsOf: log, encoding: .utf8)
        #expect(process.terminationStatus == 0, "\(said)")
        let last = "On your machine, `kith up` serves the page at http://127.0.0.1:4780, and `kith web --open` opens it."
        #expect(said.split(separator: "\n").last.map(String.init) == last, "\(said)")
        #expect(said.contains("It is on laptop") && said.contains("It is on desk"), "\(said)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["log"])
    }
}
