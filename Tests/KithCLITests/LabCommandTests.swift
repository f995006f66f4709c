import Foundation
import Testing

@Suite("A mistake in a call of the lab is found out after the run")
struct LabCommandTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
    }

    #if os(Linux)
    @Test func `a report that cannot be written is refused before anything is run`() throws {
        for path in ["nowhere/report.html", ".", ""] {
            expectFailure(try home.kith("lab", "run", "week", "--json", "--report", path), 73, "report", "Nothing was run")
        }
    }
    #endif

    @Test func `a write to a note that is never added is told with its line`() throws {
        let text = "lasts: 10s\nnodes: [a]\nevents:\n  - {at: 1s, write: {on: a, note: ghost, line: boo}}\n"
        let file = try home.write("ghost.yaml", Data(text.utf8))
        let result = try home.kith("lab", "check", file)
        #expect(result.status == 65)
        #expect(result.output.isEmpty)
        #expect(result.error.contains("ghost.yaml:4: No write adds the note \u{201C}ghost\u{201D}"), "\(result.error)")
    }
}
