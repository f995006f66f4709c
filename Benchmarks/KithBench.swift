import Foundation

/// Measures ours against the limit in one run and prints a table.
@main
struct KithBench {
    private static let names =
        ["A", "P", "T"] + (1...4).map { "A\($0)" } + (1...17).filter { $0 != 12 }.map { "P\($0)" } + (1...10).map { "T\($0)" }
    private static let usage = """
        usage: kith-bench [--quick] [--json] [P1 T3 …]
          --quick  a tenth of the rows, once
          --json   the results as JSON, not as a table
          names    only these: P1 to P17 without P12, T1 to T10, A1 to A4; P, T and A are all of a kind
        P12 is counted by the simulator: kith-sim --report

        """

    private let arguments = CommandLine.arguments.dropFirst()
    private var lines: [Line] = []

    static func main() async throws {
        if let part = CatchUp(arguments: CommandLine.arguments) { return try await part.run() }
        if let part = YearBenchmarks(arguments: CommandLine.arguments) { return try part.run() }
        if let part = FloodBenchmarks(arguments: CommandLine.arguments) { return try part.run() }
        if let part = IdleNode(arguments: CommandLine.arguments) { return try await part.run() }
        let arguments = Set(CommandLine.arguments.dropFirst())
        if !arguments.isSubset(of: names + ["--quick", "--json"]) {
            FileHandle.standardError.write(Data(usage.utf8))
            exit(arguments.isSubset(of: ["--help", "-h"]) ? 0 : 2)
        }
        var bench = KithBench()
        try await bench.run()
        try bench.printTable()
    }

    private var isQuick: Bool { arguments.contains("--quick") }

    private func wants(_ name: String) -> Bool {
        let chosen = arguments.filter { !$0.hasPrefix("-") }
        return chosen.isEmpty || chosen.contains(name) || chosen.contains(String(name.prefix(1)))
    }

    private mutating func run() async throws {
        let rounds = isQuick ? 1 : 5
        let count = isQuick ? 10_000 : 100_000
        if wants("P1") { report([try StoreBenchmarks.batchInsert(rounds: rounds, count: count)]) }
        if wants("P2") { report(try StoreBenchmarks.singleCommits(rounds: rounds, count: count / 5)) }
        if wants("P3") { report([try StoreBenchmarks.reads(rounds: rounds, count: count)]) }
        if wants("P4") {
            report([try await NodeBenchmarks.firstSync(rounds: rounds, notes: Corpus.notes(count), name: "P4", goal: "≤ 2.0")])
            report(try await Peers.firstSync(count: count / 100))
        }
        if wants("P5") {
            let notes = Corpus.smallNotes(count * 10)
            report([try await NodeBenchmarks.firstSync(rounds: 1, notes: notes, name: "P5", goal: "rate of P4 ± 15 %")])
            report(try CatchUp.measure(rows: isQuick ? 50_000 : 1_000_000))
        }
        if wants("P6") {
            report(try await NodeBenchmarks.latency(commits: isQuick ? 50 : 500, perSecond: 100))
            if !isQuick { report(try await NodeBenchmarks.latency(commits: 30, perSecond: 1)) }
        }
        if wants("P7") { report(try ReconnectBenchmarks.measure(rounds: rounds, count: count)) }
        if wants("P8") {
            report(try ApplyBenchmarks.updates(rounds: rounds, count: count))
            report(try ApplyBenchmarks.savesMeanwhile(count: count))
        }
        if wants("P9") { report(try IdleNode.measure(count: count)) }
        if wants("P10") { report(try MetadataBenchmarks.bytes(count: count)) }
        if wants("P11") { report([try ListBenchmarks.list(rounds: rounds, count: count)]) }
        if wants("P13") { report([try MetadataBenchmarks.addedColumn(count: count * 10)]) }
        if wants("P14") {
            report([try OpeningBenchmarks.opening(rounds: rounds, count: count)])
            report(try await OpeningBenchmarks.openingApp(rounds: rounds, count: count))
        }
        if wants("P16") { report(try YearBenchmarks.measure(rounds: rounds)) }
        if wants("P17") { report(try FloodBenchmarks.measure(count: count * 10)) }
        if wants("P15") { report([try OpeningBenchmarks.adoption(rounds: rounds, count: count)]) }
        try runText(rounds)
        try await runApp(rounds, count)
    }

    private mutating func runApp(_ rounds: Int, _ count: Int) async throws {
        if wants("A1") { report(try AppBenchmarks.listChange(rounds: rounds, count: count)) }
        if wants("A2") { report([try await AppBenchmarks.merges(count: count)]) }
        if wants("A3") { report(try AppBenchmarks.journal(rounds: rounds, count: count / 5)) }
        if wants("A4") { report(try await AppBenchmarks.snapshot(rounds: rounds)) }
    }

    private mutating func runText(_ rounds: Int) throws {
        if wants("T1") { report(try TextBenchmarks.sequential(rounds: rounds)) }
        if wants("T2") { report(try TextBenchmarks.paper(rounds: rounds)) }
        if wants("T3") { report(try TextBenchmarks.concurrent(rounds: rounds)) }
        if wants("T4") { report(try TextBenchmarks.asynchronous(rounds: rounds)) }
        if wants("T5") { report(try TextBenchmarks.branches(rounds: rounds)) }
        if wants("T6") { report(try TextBenchmarks.memory()) }
        if wants("T7") { report(try TextBenchmarks.packedHistory()) }
        if wants("T8") { report(try StoredTextBenchmarks.historyOnDisk()) }
        if wants("T9") { report([try StoredTextBenchmarks.reads(rounds: rounds)]) }
        if wants("T10") { report(try StoredTextBenchmarks.typedSaves(rounds: rounds)) }
    }

    /// Keeps the lines and shows them while the rest runs.
    private mutating func report(_ new: [Line]) {
        lines += new
        for line in new {
            let ratio = line.ratio.map { String(format: "ratio %.2f", $0) } ?? ""
            FileHandle.standardError.write(
                Data("\(line.name)  \(line.work): \(line.ours)  \(line.limit)  \(ratio)  goal \(line.goal)\n".utf8))
        }
    }

    private func printTable() throws {
        if arguments.contains("--json") {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            print(String(decoding: try encoder.encode(lines), as: UTF8.self))
            return
        }
        print("| # | work | ours | limit | ratio | goal |\n|---|---|---|---|---|---|")
        for line in lines {
            let ratio = line.ratio.map { String(format: "%.2f", $0) } ?? "–"
            print("| \(line.name) | \(line.work) | \(line.ours) | \(line.limit.isEmpty ? "–" : line.limit) | \(ratio) | \(line.goal) |")
        }
    }
}
