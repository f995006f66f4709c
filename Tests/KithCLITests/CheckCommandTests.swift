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

    @Test func `a sound store is reported as sound, a row without clocks with status 65`() throws {
        #expect(try home.kith("verify").output == "All is well: 20 rows were read, deleted ones included.\n")
        try DatabaseQueue(path: home.store.path).write { db in
            try db.execute(sql: "DELETE FROM kith_clock_0 WHERE row = (SELECT min(row) FROM kith_clock_0)")
        }
        let result = try home.kith("verify")
        #expect(result.status == 65)
        #expect(result.output.contains("1 rows have no clocks"))
        #expect(result.error.hasPrefix("kith: ") && result.error.contains(" found. Copy the file"))
        let report = try home.kith("verify", "--json").json() as? [String: Any]
        #expect(report?["isSound"] as? Bool == false)
        #expect((report?["problems"] as? [String])?.isEmpty == false)
    }

    @Test func `a damaged page is reported in one line by every command, with the details where they are asked for`() throws {
        // The middle of the file, but not its first page.
        let size = try #require(try FileManager.default.attributesOfItem(atPath: home.store.path)[.size] as? Int)
        let file = try FileHandle(forUpdating: home.store)
        for page in stride(from: 2, to: size / 4_096, by: 2) {
            try file.seek(toOffset: UInt64(page * 4_096))
            try file.write(contentsOf: Data(repeating: 0xA5, count: 4_096))
        }
        try file.close()
        for command in ["note list", "note show 'note 3'", "note add x", "trash list", "conflicts list"] {
            let result = try home.shell("\"$KITH\" \(command)")
            if result.status == 0 { continue }
            #expect(result.error.split(separator: "\n").count == 1 && result.error.utf8.count < 500, "\(result.error)")
        }
        let result = try home.kith("note", "list")
        #expect(result.status == 65 && result.error.contains("damaged") && result.error.contains("kith recover"), "\(result.error)")
        let verbose = try home.kith("note", "list", "--verbose")
        #expect(verbose.error.hasPrefix(result.error) && verbose.error.contains("malformed"), "\(verbose.error)")
        let verified = try home.kith("verify")
        #expect(verified.status == 65, "\(verified.output)\(verified.error)")
        #expect(try home.kith("recover", "--refill").status == 0)
    }

    @Test func `a change by the disk is noticed in what was looked at once`() throws {
        #expect(try home.kith("verify").status == 0)
        // A single bit of a title, wherever it stands.
        var bytes = [UInt8](try Data(contentsOf: home.store))
        let title = Array("note 7".utf8)
        for start in bytes.indices.dropLast(title.count) where bytes[start..<start + title.count].elementsEqual(title) {
            bytes[start + 3] ^= 4
        }
        try Data(bytes).write(to: home.store, options: [])
        let result = try home.kith("verify")
        #expect(result.status == 65 && result.output.contains("behind Kith's back"), "\(result.output)")
        // Until it is mended or written.
        for _ in 1...2 {
            let again = try home.kith("verify")
            #expect(again.status == 65 && again.output.contains("neither mended nor written since"), "\(again.output)")
        }
        #expect(try home.kith("backup", home.path("notes.kithbackup")).status != 0)
        // Or a person takes it as it is.
        for arguments in [["--accept"], []] {
            let accepted = try home.shell("\"$KITH\" verify \(arguments.joined(separator: " "))")
            #expect(accepted.status == 0, "\(accepted.output)")
        }
    }

    @Test func `the parts add up to the file, and deleted notes are counted`() throws {
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
        let devices = report["devices"] as? [[String: Any]] ?? []
        #expect(devices.count == 1 && devices[0]["name"] as? String == "this device" && devices[0]["rows"] as? Int ?? 0 >= 19)
        #expect(devices[0]["bytes"] as? Int ?? 0 > 19 * 2_000 && devices[0]["hiddenBytes"] as? Int ?? 0 > 2_000, "\(devices)")
        let shown = try home.kith("doctor", "--size").output
        #expect(shown.contains("Kith's own") && shown.contains("this device"), "\(shown)")
        #expect(try home.kith("doctor", "--no-discovery").status == 69)
    }
}
