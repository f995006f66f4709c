import KithTesting
import TestSupport
import Testing

/// Risk: who was away when a row was removed for good, and meets another one under its id, shows what was deleted.
///
/// Seeds do not try that: their machines are never away for 90 days, because what such a machine had edited would bring removed rows back.
@Suite struct UsedAgainScriptTests {
    @Test func `ids that are used again after 100 days bring nothing back for who was away and wrote nothing`() throws {
        let simulator = try KithSimulator.standard
        for seed in Soak.firstSeed..<Soak.firstSeed + UInt64(Soak.count(12, soaking: 4_000)) {
            var course = Course(seed: seed)
            course.write()
            let script = course.lines.joined(separator: "\n")
            let report = simulator.run(try simulator.script(parsing: script))
            #expect(report.violation == nil, "\(String(describing: report.violation))\n\(script)")
        }
    }

    /// A script of one row that some have deleted, removed and written anew, once or twice, while others were away.
    private struct Course {
        private(set) var lines: [String]
        private var random: KithTesting.SplitMix64
        private let names: [String]
        private let table: String
        /// The simulator tells texts apart by their characters.
        private var nextCharacter: UInt32 = 0x4e00

        init(seed: UInt64) {
            random = KithTesting.SplitMix64(seed: seed)
            names = Array(["A", "B", "C", "D"].prefix(Int.random(in: 2...4, using: &random)))
            table = ["note", "task", "page", "page"].randomElement(using: &random) ?? "page"
            lines = [
                "seed \(seed)", "nodes \(names.count)", "topology mesh", "latency 1 20", "store 0 3", "bandwidth 10000000",
                // If a text comes in several slices, its receiver cannot tell what is gone, and keeps all.
                "slice \(table == "page" || Bool.random(using: &random) ? 2_000 : 1)",
            ]
        }

        mutating func write() {
            let away = names.shuffled(using: &random).dropLast(Int.random(in: 1..<names.count, using: &random))
            let here = names.filter { !away.contains($0) }
            commit("upsert", by: names)
            for _ in 0..<Int.random(in: 0...2, using: &random) { commit("update", by: names) }
            let hearing = away.filter { _ in Int.random(in: 1...3, using: &random) == 1 }
            for name in away where !hearing.contains(name) { lines.append("nap \(name)") }
            commit("delete", by: here)
            lines += hearing.map { "nap \($0)" } + ["sleep 2400", "wait 4000"]
            beginAnew(here)
            if Bool.random(using: &random) {
                commit("delete", by: here)
                if Bool.random(using: &random) { lines += ["sleep 2400", "wait 4000"] }
                beginAnew(here)
            }
            for name in away.shuffled(using: &random) { lines += ["wake \(name)", "wait \(Bool.random(using: &random) ? 0 : 5_000)"] }
            lines.append("wait 5000")
        }

        private mutating func beginAnew(_ here: [String]) {
            for name in here where Int.random(in: 1...3, using: &random) > 1 { lines.append("collect \(name)") }
            commit("upsert", by: here)
            if Bool.random(using: &random) { commit("update", by: here) }
        }

        private mutating func commit(_ verb: String, by names: [String]) {
            let values = verb == "delete" ? [] : values()
            if verb == "update", values.isEmpty { return }
            let name = names.randomElement(using: &random) ?? "A"
            lines += [(["\(name): \(verb) \(table) 1"] + values).joined(separator: " "), "wait 4000"]
        }

        private mutating func values() -> [String] {
            let all =
                switch table {
                case "note": ["title='v\(number())'", "tags='\(elements())'", "rank=\(number())", "views=\(number())"]
                case "task": ["label='v\(number())'", "owners='\(elements())'", "weight=\(number()).0"]
                default:
                    [
                        "body='\(text())'", "remark=\(["''", "null", "'\(text())'"].randomElement(using: &random) ?? "''")",
                        "color=\(number())",
                    ]
                }
            return all.filter { _ in Int.random(in: 1...4, using: &random) > 1 }
        }

        private mutating func number() -> Int { Int.random(in: 1...99, using: &random) }

        private mutating func elements() -> String {
            let elements = ["a", "b", "c", "d", "e", "f"].filter { _ in Bool.random(using: &random) }
            return "[" + elements.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        }

        private mutating func text() -> String {
            let first = nextCharacter
            nextCharacter += UInt32.random(in: 1...4, using: &random)
            return String(String.UnicodeScalarView((first..<nextCharacter).compactMap(UnicodeScalar.init)))
        }
    }
}
