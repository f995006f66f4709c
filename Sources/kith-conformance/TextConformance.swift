import Foundation
import KithCausality
import KithText

/// `kith-conformance text FILE`: replays event graphs and prints the final texts.
enum TextConformance {
    /// Reads a file of text cases (`.json`, `.json.gz`, or `-` for standard input), merges the changes of each case
    /// into an empty document and prints a JSON array of the texts, in order.
    static func run(path: String) throws {
        let cases = try JSONDecoder().decode(Cases.self, from: read(path)).all
        let texts = try cases.map { try $0.finalText() }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        FileHandle.standardOutput.write(try encoder.encode(texts) + Data("\n".utf8))
    }

    private static func read(_ path: String) throws -> Data {
        if path == "-" { return try FileHandle.standardInput.readToEnd() ?? Data() }
        let url = URL(fileURLWithPath: path)
        guard path.hasSuffix(".gz") else { return try Data(contentsOf: url) }
        let gzip = Process()
        gzip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        gzip.arguments = ["gzip", "-dc", url.path]
        let output = Pipe()
        gzip.standardOutput = output
        try gzip.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        gzip.waitUntilExit()
        guard gzip.terminationStatus == 0 else { throw ConformanceError.unreadable(path) }
        return data
    }
}

enum ConformanceError: Error, CustomStringConvertible {
    case unreadable(String)
    case parentIsNoChangeEnd(Int)
    case refused([RejectedTextChange])

    var description: String {
        switch self {
        case .unreadable(let path): "\(path) cannot be decompressed: gzip failed. Check the file."
        case .parentIsNoChangeEnd(let event): "Parent \(event) is not the last event of an earlier change."
        case .refused(let changes):
            "Refused: " + changes.map { "\($0.change.dot): \($0.reason)" }.joined(separator: "; ")
        }
    }
}

/// A file holds an array of cases, one case, or an object with a list of them.
private struct Cases: Decodable {
    let all: [Case]

    init(from decoder: any Decoder) throws {
        if let list = try? decoder.singleValueContainer().decode([Case].self) {
            all = list
        } else if let object = try? decoder.singleValueContainer().decode(CaseList.self) {
            all = object.cases
        } else {
            all = [try Case(from: decoder)]
        }
    }

    private struct CaseList: Decodable { let cases: [Case] }
}

/// One event graph in the export format: parents are events, one for each inserted or deleted scalar.
private struct Case: Decodable {
    struct Transaction: Decodable {
        let span: [Int]
        let parents: [Int]
        let agent: String
        let seqStart: UInt64
        let ops: [Splice]
    }

    struct Splice: Decodable {
        let position: Int
        let deleted: Int
        let inserted: String

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            position = try list.decode(Int.self)
            deleted = try list.decode(Int.self)
            inserted = try list.decode(String.self)
        }
    }

    let txns: [Transaction]

    func finalText() throws -> String {
        var document = TextDocument()
        let outcome = try document.merge(changes())
        guard outcome.rejected.isEmpty else { throw ConformanceError.refused(outcome.rejected) }
        return document.text.string
    }

    /// The case as changes: agents become replicas in the order of their names' bytes.
    private func changes() throws -> [TextChange] {
        let agents = Set(txns.map { Array($0.agent.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
        let replicas = Dictionary(
            uniqueKeysWithValues: agents.enumerated().map { ($1, ReplicaID(high: 0, low: UInt64($0))) })
        var ends: [Int: Dot] = [:]
        return try txns.map { transaction in
            let parents = try transaction.parents.map { event in
                guard let dot = ends[event] else { throw ConformanceError.parentIsNoChangeEnd(event) }
                return dot
            }
            var operations = TextOperations()
            for splice in transaction.ops {
                operations.delete(splice.deleted, at: splice.position)
                operations.insert(splice.inserted, at: splice.position)
            }
            let replica = replicas[Array(transaction.agent.utf8)] ?? ReplicaID(high: 0, low: 0)
            let dot = Dot(replica: replica, sequence: transaction.seqStart + 1)
            ends[transaction.span[0] + operations.eventCount - 1] = dot
            return TextChange(dot: dot, parents: parents.sorted(), operations: operations)
        }
    }
}
