import Crypto
import Foundation
import KithCausality
import KithText

/// The recorded traces and vectors beside the tests.
enum Fixture {
    static func data(_ name: String) throws -> Data {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/\(name).json.gz")
        let gzip = Process()
        gzip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        gzip.arguments = ["gzip", "-dc", url.path]
        let output = Pipe()
        gzip.standardOutput = output
        try gzip.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        gzip.waitUntilExit()
        guard gzip.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
        return data
    }

    static func json<T>(_ name: String, as type: T.Type) throws -> T {
        guard let object = try JSONSerialization.jsonObject(with: data(name)) as? T else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return object
    }

    static func sha256(_ text: TextBuffer) -> String {
        SHA256.hash(data: text.utf8).map { String(format: "%02x", $0) }.joined()
    }
}

typealias JSONObject = [String: Any]

/// A patch of a trace: `[position, deleted, inserted]`.
struct Splice {
    let position: Int
    let deleted: Int
    let inserted: String

    init(_ json: Any) throws {
        guard let list = json as? [Any], list.count >= 3, let position = list[0] as? Int, let deleted = list[1] as? Int,
            let inserted = list[2] as? String
        else { throw CocoaError(.coderReadCorrupt) }
        (self.position, self.deleted, self.inserted) = (position, deleted, inserted)
    }

    static func all(_ json: Any?) throws -> [Splice] { try (json as? [Any] ?? []).map(Splice.init) }
}

extension TextOperations {
    init(_ splices: [Splice]) {
        self.init()
        for splice in splices {
            delete(splice.deleted, at: splice.position)
            insert(splice.inserted, at: splice.position)
        }
    }
}

/// One case of the export format as changes, with the text they must give.
struct ExportedCase {
    let changes: [TextChange]
    let expected: String

    init(_ json: JSONObject) throws {
        guard let transactions = json["txns"] as? [JSONObject], let expected = json["endContent"] as? String else {
            throw CocoaError(.coderReadCorrupt)
        }
        let agents = Set(transactions.compactMap { ($0["agent"] as? String).map { Array($0.utf8) } })
            .sorted { $0.lexicographicallyPrecedes($1) }
        var ends: [Int: Dot] = [:]
        changes = try transactions.map { transaction in
            guard let agent = transaction["agent"] as? String, let first = transaction["seqStart"] as? Int,
                let span = transaction["span"] as? [Int], let parents = transaction["parents"] as? [Int],
                let rank = agents.firstIndex(of: Array(agent.utf8))
            else { throw CocoaError(.coderReadCorrupt) }
            let dot = Dot(replica: .numbered(rank), sequence: UInt64(first) + 1)
            ends[span[1] - 1] = dot
            return TextChange(
                dot: dot, parents: parents.compactMap { ends[$0] }.sorted(),
                operations: TextOperations(try Splice.all(transaction["ops"])))
        }
        self.expected = expected
    }

    static func all(_ name: String) throws -> [ExportedCase] {
        let json = try Fixture.json(name, as: Any.self)
        let cases = (json as? JSONObject)?["cases"] ?? json
        if let list = cases as? [JSONObject] { return try list.map(ExportedCase.init) }
        guard let object = cases as? JSONObject else { throw CocoaError(.coderReadCorrupt) }
        return [try ExportedCase(object)]
    }
}

extension ReplicaID {
    static func numbered(_ number: Int) -> ReplicaID { ReplicaID(high: 0, low: UInt64(number)) }
}

func dot(_ replica: Int, _ sequence: UInt64) -> Dot { Dot(replica: .numbered(replica), sequence: sequence) }
