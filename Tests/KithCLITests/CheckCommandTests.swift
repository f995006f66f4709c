import Foundation
import GRDB
import Testing

@Suite("Damage goes unseen, or the size of a store is told wrongly")
struct CheckCommandTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
        for number in 0..<20 { try home.kith("note", "add", "note \(number)", "--body", String(repeating: "x", count: 2_000)) }
    }

    @Test("a sound store is reported as sound, a row without clocks with status 65")
    func verify() throws {
        #expect(try home.kith("verify").output == "All is well: 20 rows were read, deleted ones included.\n")
        try DatabaseQueue(path: home.store.path).write { db in
            try db.execute(sql: "DELETE FROM kith_clock_0 WHERE row = (SELECT min(row) FROM kith_clock_0)")
        }
        let result = try home.kith("verify")
        #expect(result.status == 65)
        #expect(result.output.contains("1 rows have no clocks"))
        #expect(result.error.hasPrefix("kith: ") && result.error.contains("problems were found"))
        let report = try home.kith("verify", "--json").json() as? [String: Any]
        #expect(report?["isSound"] as? Bool == false)
        #expect((report?["problems"] as? [String])?.isEmpty == false)
    }

    @Test("the parts add up to the file, and deleted notes are counted")
    func size() throws {
        try home.kith("note", "rm", "note 3")
        let report = try #require(try home.kith("doctor", "--size", "--json").json() as? [String: Any])
        func number(_ name: String) -> Int { report[name] as? Int ?? -1 }
        #expect(number("dataBytes") + number("metadataBytes") + number("freeBytes") == number("fileBytes"))
        #expect(number("dataBytes") > 19 * 2_000)
        #expect(number("trashRows") == 1)
        #expect(number("trashBytes") > 2_000)
        let metadata = report["metadata"] as? [String: Int] ?? [:]
        #expect(metadata.values.reduce(0, +) == number("metadataBytes"))
        #expect((metadata["clocks"] ?? 0) > 0 && (metadata["commits"] ?? 0) > 0)
        let tables = report["tables"] as? [[String: Any]] ?? []
        #expect(tables.contains { $0["name"] as? String == "note" && $0["isTracked"] as? Bool == true })
        #expect(try home.kith("doctor", "--size").output.contains("Kith's own"))
        #expect(try home.kith("doctor", "--no-discovery").status == 69)
    }
}
