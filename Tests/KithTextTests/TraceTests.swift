import KithCausality
import TestSupport
import Testing

@testable import KithText

/// Risk: a real editing history does not end in the text its authors had.
@Suite struct TraceTests {
    /// A long run takes all.
    @Test(arguments: TraceList.sequential.prefix(Soak.isAsked ? .max : 4))
    func `sequential traces need no history and end in their text`(_ trace: TraceList.Trace) throws {
        let transactions = try Fixture.json("sequential_traces/\(trace.name)", as: JSONObject.self)["txns"]
        var document = TextDocument()
        var previous: [Dot] = []
        let changes = try (transactions as? [JSONObject] ?? []).enumerated().compactMap { index, transaction in
            let operations = TextOperations(try Splice.all(transaction["patches"]))
            let change = TextChange(dot: dot(1, UInt64(index) + 1), parents: previous, operations: operations)
            guard !operations.isEmpty else { return nil as TextChange? }
            previous = [change.dot]
            return change
        }
        for start in stride(from: 0, to: changes.count, by: 1_000) {
            // Opened without any history, the document could not enter the walker.
            var opened = TextDocument(text: document.text, heads: document.heads, nextEvent: document.nextEvent)
            let outcome = try opened.merge(Array(changes[start..<min(start + 1_000, changes.count)]))
            #expect(outcome.rejected.isEmpty && outcome.pending.isEmpty)
            document = opened
        }
        #expect(Fixture.sha256(document.text) == trace.sha256)
    }

    @Test(arguments: TraceList.concurrent) func `concurrent traces end in their text`(_ trace: TraceList.Trace) throws {
        let transactions = try Fixture.json("concurrent_traces/\(trace.name)", as: JSONObject.self)["txns"]
        var versions: [[Dot]] = []
        var sequences: [Int: UInt64] = [:]
        var changes: [TextChange] = []
        for transaction in transactions as? [JSONObject] ?? [] {
            let agent = try #require(transaction["agent"] as? Int)
            let parents = try #require(transaction["parents"] as? [Int]).flatMap { versions[$0] }.sorted()
            let operations = TextOperations(try Splice.all(transaction["patches"]))
            if operations.isEmpty {
                versions.append(parents)
                continue
            }
            sequences[agent, default: 0] += 1
            let change = TextChange(dot: dot(agent, sequences[agent, default: 0]), parents: parents, operations: operations)
            versions.append([change.dot])
            changes.append(change)
        }
        var document = TextDocument()
        let outcome = try document.merge(changes)
        #expect(outcome.rejected.isEmpty && outcome.pending.isEmpty)
        #expect(Fixture.sha256(document.text) == trace.sha256)
    }

    @Test(arguments: TraceList.asynchronous)
    func `asynchronous traces end in their text at once and in portions`(_ trace: TraceList.Trace) throws {
        let changes = try #require(try ExportedCase.all("async_traces/\(trace.name)").first).changes
        var document = TextDocument()
        _ = try document.merge(changes)
        #expect(Fixture.sha256(document.text) == trace.sha256)
        var store = PagedStore(changesPerPage: 100)
        for start in stride(from: 0, to: changes.count, by: 400) {
            try store.merge(Array(changes[start..<min(start + 400, changes.count)]))
        }
        #expect(Fixture.sha256(try store.open().text) == trace.sha256)
    }
}
