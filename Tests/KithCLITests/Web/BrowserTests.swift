import Foundation
import TestSupport
import Testing

/// What two people do with two browsers; `Tests/Browser/browser.py` says it step by step.
@Suite("A browser shows the wrong thing, or loses a letter", .timeLimit(.minutes(15)), .enabled(if: Browser.isHere, Browser.whyNot))
struct BrowserTests {
    /// Each list at the same time as the other, one part after the other in one browser: its start takes longer than some of them.
    static let parts = [
        ["letters", "pictures", "hands", "order", "merge", "early", "moving_on", "gone", "elsewhere", "twice"]
            + (ProcessInfo.processInfo.environment["KITH_PICTURES"] == nil ? [] : ["readme"]),
        ["pairing", "news", "hostile", "conflicts", "typing", "undo", "restart", "history", "first", "lan", "titles", "quick", "pasted"],
    ]

    @Test("two people type into one note, a node is killed meanwhile, hands do everything, and every place can be read and heard")
    func parts() throws {
        try #require(Browser.hasPlaywright, "Playwright is not installed: run scripts/setup.sh")
        for run in try Self.parts.map(BrowserRun.init) {
            let (said, status) = try run.end()
            #expect(status == 0 && run.parts.allSatisfy { said.contains("\($0): right") }, "\(said)")
            print(said, terminator: "")
            // For somebody to look at.
            if let kept = ProcessInfo.processInfo.environment["KITH_PICTURES"] { try run.keepPictures(in: URL(filePath: kept)) }
        }
    }
}

/// Some of the parts, in a browser of their own.
private struct BrowserRun {
    let parts: [String]
    private let folder: TemporaryFolder
    private let process = Process()
    private let output = Pipe()

    init(_ parts: [String]) throws {
        self.parts = parts
        folder = try TemporaryFolder()
        process.executableURL = Browser.python
        process.arguments = [Browser.script.path, try KithHome.program.path, folder.path] + parts
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    /// What it says until its end, and its exit status.
    func end() throws -> (said: String, status: Int32) {
        let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (said, process.terminationStatus)
    }

    func keepPictures(in kept: URL) throws {
        try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true)
        for file in try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil)
        where file.pathExtension == "png" {
            try FileManager.default.copyItem(at: file, to: kept.appending(path: file.lastPathComponent))
        }
    }
}

/// Chromium and Playwright, as `scripts/setup.sh` installs them.
private enum Browser {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let script = root.appending(path: "Tests/Browser/browser.py")
    static let python = root.appending(path: ".build/browser/bin/python3")

    static var isHere: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium-headless-shell") }
    static var hasPlaywright: Bool { FileManager.default.isExecutableFile(atPath: python.path) }

    static let whyNot: Comment = "chromium-headless-shell is not installed; scripts/setup.sh installs it where apt-get knows it"
}
