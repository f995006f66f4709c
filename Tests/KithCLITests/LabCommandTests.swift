import Foundation
import Testing

@Suite("A mistake in a call of the lab is found out after the run")
struct LabCommandTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
    }

    #if os(Linux)
    @Test("a report that cannot be written is refused before anything is run")
    func report() throws {
        for path in ["nowhere/report.html", ".", ""] {
            expectFailure(try home.kith("lab", "run", "week", "--json", "--report", path), 73, "report", "Nothing was run")
        }
    }
    #endif
}
