import Foundation
import KithCausality
import KithText

/// A recorded editing history as changes, with the text that its authors had at the end.
struct Trace {
    let name: String
    let changes: [TextChange]
    let end: TextBuffer
    /// Insertions and deletions, of whatever length.
    let edits: Int

    static let paper = "sequential_traces/automerge-paper"
    static let sequential =
        [paper]
        + [
            "seph-blog1", "rustcode", "json-crdt-blog-post", "json-crdt-patch", "sveltecomponent", "friendsforever_flat",
            "clownschool_flat",
        ].map { "sequential_traces/\($0)" }
    static let concurrent = ["concurrent_traces/friendsforever", "concurrent_traces/clownschool"]
    static let asynchronous = ["async_traces/git-makefile-neutral", "async_traces/node_nodecc-neutral"]

    /// Scalars inserted and deleted.
    var events: Int { changes.reduce(0) { $0 + $1.operations.eventCount } }

    init(name: String, changes: [TextChange], end: TextBuffer, edits: Int) {
        (self.name, self.changes, self.end, self.edits) = (name, changes, end, edits)
    }

    /// Reads a recorded trace.
    ///
    /// - Parameter name: a file below the folder that `KITH_TRACES` names, without `.json.gz`; without that variable,
    ///   below the fixtures of the tests.
    init(_ name: String) throws {
        self.name = name.split(separator: "/").last.map(String.init) ?? name
        let json = try Self.gzip("-dc", Self.file(name))
        guard let trace = try JSONSerialization.jsonObject(with: json) as? [String: Any],
            let transactions = trace["txns"] as? [[String: Any]], let end = trace["endContent"] as? String
        else { throw CocoaError(.fileReadCorruptFile) }
        self.end = TextBuffer(end)
        edits = transactions.reduce(0) { $0 + Self.patches($1).count }
        changes = name.hasPrefix("async") ? Self.spanned(transactions) : Self.indexed(transactions)
    }

    static func file(_ name: String) -> URL {
        let folder =
            ProcessInfo.processInfo.environment["KITH_TRACES"].map { URL(filePath: $0) }
            ?? URL(filePath: #filePath).appending(path: "../../../../../Tests/KithTextTests/Fixtures").standardized
        return folder.appending(path: "\(name).json.gz")
    }

    static func gzip(_ options: String, _ file: URL) throws -> Data {
        let gzip = Process()
        gzip.executableURL = URL(filePath: "/usr/bin/env")
        gzip.arguments = ["gzip", options, file.path]
        let output = Pipe()
        gzip.standardOutput = output
        try gzip.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        gzip.waitUntilExit()
        guard gzip.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile, userInfo: [NSFilePathErrorKey: file.path]) }
        return data
    }

    /// Transactions whose parents are places in the list; without any, each follows the previous one.
    private static func indexed(_ transactions: [[String: Any]]) -> [TextChange] {
        var versions: [[Dot]] = []
        var sequences: [Int: UInt64] = [:]
        var changes: [TextChange] = []
        for transaction in transactions {
            let agent = transaction["agent"] as? Int ?? 0
            let parents = (transaction["parents"] as? [Int])?.flatMap { versions[$0] }.sorted() ?? versions.last ?? []
            let operations = operations(transaction)
            if operations.isEmpty {
                versions.append(parents)
                continue
            }
            sequences[agent, default: 0] += 1
            let dot = Dot(replica: ReplicaID(high: 0, low: UInt64(agent)), sequence: sequences[agent, default: 0])
            changes.append(TextChange(dot: dot, parents: parents, operations: operations))
            versions.append([dot])
        }
        return changes
    }

    /// Transactions that name their parents by the number of the last event.
    private static func spanned(_ transactions: [[String: Any]]) -> [TextChange] {
        let agents = Set(transactions.compactMap { $0["agent"] as? String }).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let ranks = Dictionary(uniqueKeysWithValues: zip(agents, 0...))
        var ends: [Int: Dot] = [:]
        return transactions.compactMap { transaction in
            guard let rank = (transaction["agent"] as? String).flatMap({ ranks[$0] }), let span = transaction["span"] as? [Int],
                let first = transaction["seqStart"] as? Int, let parents = transaction["parents"] as? [Int]
            else { return nil }
            let dot = Dot(replica: ReplicaID(high: 0, low: UInt64(rank)), sequence: UInt64(first) + 1)
            ends[span[1] - 1] = dot
            return TextChange(dot: dot, parents: parents.compactMap { ends[$0] }.sorted(), operations: operations(transaction))
        }
    }

    private static func patches(_ transaction: [String: Any]) -> [[Any]] {
        (transaction["patches"] ?? transaction["ops"]) as? [[Any]] ?? []
    }

    /// A patch is position, scalars deleted, text inserted.
    private static func operations(_ transaction: [String: Any]) -> TextOperations {
        var operations = TextOperations()
        for patch in patches(transaction) {
            guard let position = patch[0] as? Int, let deleted = patch[1] as? Int, let text = patch[2] as? String else { continue }
            operations.delete(deleted, at: position)
            operations.insert(text, at: position)
        }
        return operations
    }
}
