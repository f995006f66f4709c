import Foundation
import KithCausality
import KithText

/// Texts alone, in memory: recorded histories typed, received, merged, packed. Reading the files is not timed; after every
/// run the text is compared with the one that the authors had.
enum TextBenchmarks {
    /// Every sequential trace, each change merged by itself, as from a peer who is typing.
    static func sequential(rounds: Int) throws -> [Line] {
        try Trace.sequential.map { name in
            let trace = try Trace(name)
            let times = try ProcessorTimes(rounds, trace) { try mergedOneByOne(trace.changes) }
            let perEdit = String(format: "%.2f µs", times.cpu.quantile(0) / Double(trace.edits) * 1e6)
            return Line(
                name: "T1", work: "\(trace.name), \(trace.edits) edits received one by one", ours: "\(times); \(perEdit) an edit",
                limit: "", ratio: nil, goal: "≤ 2 µs an edit")
        }
    }

    static func paper(rounds: Int) throws -> [Line] {
        let trace = try Trace(Trace.paper)
        let typed = try ProcessorTimes(rounds, trace) {
            var document = TextDocument()
            for change in trace.changes { try document.edit(change.operations, as: change.dot) }
            return document
        }
        let received = try ProcessorTimes(rounds, trace) { try merged(trace.changes) }
        let bytes = trace.changes.map { ($0.dot, $0.parents, $0.operations.encodedSteps, $0.operations.encodedText) }
        let decoded = try ProcessorTimes(rounds, trace) {
            try merged(
                bytes.map { dot, parents, steps, text in
                    TextChange(dot: dot, parents: parents, operations: try TextOperations(steps: steps, text: text))
                })
        }
        return [
            line("T2", "automerge-paper, \(trace.edits) edits typed here", typed, "< 100 ms"),
            line("T2", "automerge-paper received in one portion", received, "< 100 ms"),
            line("T2", "the same, decoded from bytes first", decoded, "–"),
        ] + (try Peers.paper(typed.cpu.median))
    }

    static func concurrent(rounds: Int) throws -> [Line] {
        try Trace.concurrent.flatMap { name in
            let trace = try Trace(name)
            let work = "\(trace.name), \(trace.changes.count) changes of people who write at once"
            return [
                line("T3", "\(work), in one portion", try ProcessorTimes(rounds, trace) { try merged(trace.changes) }, "< 40 ms"),
                line("T3", "\(work), one by one", try ProcessorTimes(rounds, trace) { try mergedOneByOne(trace.changes) }, "–"),
            ]
        }
    }

    static func asynchronous(rounds: Int) throws -> [Line] {
        try zip(Trace.asynchronous, ["< 150 ms", "< 100 ms"]).map { name, goal in
            let trace = try Trace(name)
            return line(
                "T4", "\(trace.name), \(trace.changes.count) changes, \(trace.events) events, in one portion",
                try ProcessorTimes(rounds, trace) { try merged(trace.changes) }, goal)
        }
    }

    /// Two devices that worked apart on one text.
    static func branches(rounds: Int) throws -> [Line] {
        try [Trace.Branches.scattered, .atOnePlace].map { kind in
            let trace = try Trace(branchesOf: 10_000, kind)
            return line(
                "T5", "two branches of 10,000 changes, \(kind.rawValue)",
                try ProcessorTimes(rounds, trace) { try merged(trace.changes) }, "–")
        }
    }

    /// What a replay holds at most.
    static func memory() throws -> [Line] {
        try (Trace.concurrent + Trace.asynchronous).map { name in
            let trace = try Trace(name)
            var document = TextDocument()
            let peak = try document.merge(trace.changes).peakRuns
            return Line(
                name: "T6", work: "\(trace.name), \(trace.events) events: runs held at most", ours: "\(peak)", limit: "",
                ratio: nil, goal: "as what is concurrent")
        }
    }

    /// The whole history of a text that was saved now and then, packed and compressed.
    static func packedHistory() throws -> [Line] {
        let trace = try Trace(Trace.paper)
        return try [(20, "≤ 120 kB"), (100, "–")].map { edits, goal in
            let saves = try trace.saves(every: edits)
            let bytes = try stride(from: 0, to: saves.count, by: 1_000).reduce(0) { total, start in
                let chunk = saves[start..<min(start + 1_000, saves.count)]
                let graph = try TextChunk.encodeGraph(chunk.map(\.header))
                return try total + gzipped(graph) + gzipped(TextChunk.encodeBody(chunk.map(\.change.operations)))
            }
            return Line(
                name: "T7", work: "automerge-paper, \(saves.count) saves of \(edits) edits each, packed and compressed",
                ours: "\(bytes) bytes", limit: "", ratio: nil, goal: goal)
        }
    }

    private static func line(_ name: String, _ work: String, _ times: ProcessorTimes, _ goal: String) -> Line {
        Line(name: name, work: work, ours: "\(times)", limit: "", ratio: nil, goal: goal)
    }

    private static func merged(_ changes: [TextChange]) throws -> TextDocument {
        var document = TextDocument()
        _ = try document.merge(changes)
        return document
    }

    private static func mergedOneByOne(_ changes: [TextChange]) throws -> TextDocument {
        var document = TextDocument()
        for change in changes { _ = try document.merge([change]) }
        return document
    }

    /// The number of bytes that gzip makes of `bytes`.
    private static func gzipped(_ bytes: [UInt8]) throws -> Int {
        let file = FileManager.default.temporaryDirectory.appending(path: "kith-bench-\(UUID().uuidString)")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try Trace.gzip("-cn", file).count
    }
}
