import Foundation
import TestSupport
import Testing

/// Risk: an example that people copy compiles and does not do what it says.
@Suite(.timeLimit(.minutes(2))) struct ExampleTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Runs an example until it ends, or until it has printed `enough`, and returns what it printed.
    private func run(_ name: String, _ arguments: [String] = [], until enough: String? = nil) async throws -> String {
        let process = Process()
        let output = folder.url(name + ".log")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        process.executableURL = BuiltProgram.url(name)
        process.arguments = arguments
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        defer {
            if process.isRunning { process.terminate() }
            process.waitUntilExit()
        }
        func text() throws -> String { try String(contentsOf: output, encoding: .utf8) }
        while process.isRunning {
            if let enough, try text().contains(enough) { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        if enough == nil { #expect(process.terminationStatus == 0) }
        return try text()
    }

    @Test func `live queries show what both devices wrote`() async throws {
        let text = try await run("LiveQueriesExample")
        #expect(text.contains(#"[x] Clean the windows, 25 min, ["Ada","Ben"]"#))
        #expect(text.hasSuffix("phone: [\"Ada\",\"Ben\"] helped for 25 minutes\nlaptop: [\"Ada\",\"Ben\"] helped for 25 minutes\n"))
    }

    @Test func `a live list is told each change by row`() async throws {
        let text = try await run("LiveListExample")
        for line in [
            "  + row 0: Buy milk", "  + row 1: Water the plants", "  row 1 goes to 0: Water the plants",
            "  row 1 changes its title: Buy oat milk",
            "  - row 1",
        ] { #expect(text.contains(line + "\n"), "\(text)") }
    }

    @Test func `an undo takes back one's own step, and leaves what another device has written since`() async throws {
        let text = try await run("JournalAndUndoExample")
        #expect(text.contains("Before: Peas: freezer, Soup: table\n"), "\(text)")
        #expect(text.contains("After the undo: Peas: fridge, Soup: table\nLeft: place of the soup\n"), "\(text)")
        #expect(text.contains("After the redo: Peas: freezer, Soup: table\n"), "\(text)")
        #expect(text.hasSuffix("the last one came from another device: true\n"), "\(text)")
    }

    @Test func `a widget shows what another device wrote, from a file`() async throws {
        let file = folder.file("items.snapshot")
        #expect(try await run("WidgetExample", [file]) == "Nothing yet. Open the app.\n")
        _ = try await run("WidgetSnapshotExample", [file])
        #expect(try await run("WidgetExample", [file]) == "Apples, Bread, Milk\n")
    }

    @Test func `the smallest app says what it waits for`() async throws {
        let text = try await run("SmallestSyncedAppExample", [folder.file("app")], until: "no other device is trusted")
        #expect(text.contains("This device: ") && text.contains("1 visits. Local only: no other device is trusted"))
    }

    @Test func `a process without a keyboard ends in order`() async throws {
        _ = try await run("SeveralProcessesExample", [folder.file("lines")])
        #expect(FileManager.default.fileExists(atPath: folder.file("lines/data/app.sqlite")))
    }
}
