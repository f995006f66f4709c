import KithTesting
import TestSupport
import Testing

/// Risk: who was away when a row was removed for good, or reads a file from before that, and meets another row under its id, shows what
/// was deleted.
///
/// Seeds do not try the first: their machines are never away for 90 days, because what such a machine had edited would bring removed rows
/// back. They seldom try the second.
@Suite struct UsedAgainScriptTests {
    @Test func `ids that are used again after 100 days bring nothing back for who was away and wrote nothing`() throws {
        try run { $0.writeAbsence() }
    }

    @Test func `files from before a deletion bring nothing back where the id is used again`() throws {
        try run { $0.writeFiles() }
    }

    private func run(_ write: (inout Course) -> Void) throws {
        let simulator = try KithSimulator.standard
        for seed in Soak.firstSeed..<Soak.firstSeed + UInt64(Soak.count(12, soaking: 4_000)) {
            var course = Course(seed: seed)
            write(&course)
            let script = course.lines.joined(separator: "\n")
            let report = simulator.run(try simulator.script(parsing: script))
            #expect(report.violation == nil, "\(String(describing: report.violation))\n\(script)")
        }
    }

    /// A script of one row that was deleted, removed and written anew, perhaps several times.
    private struct Course {
        private(set) var lines: [String]
        private var random: KithTesting.SplitMix64
        private var names: [String]
        private let table: String
        /// The simulator tells texts apart by their characters.
        private var nextCharacter: UInt32 = 0x4e00
        private var fileCount = 0

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

        /// Some delete the row while others are away.
        mutating func writeAbsence() {
            findOrWrite()
            let away = names.shuffled(using: &random).dropLast(Int.random(in: 1..<names.count, using: &random))
            let here = names.filter { !away.contains($0) }
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
            for name in away.shuffled(using: &random) { wake(name) }
            lines.append("wait 5000")
        }

        /// Machines write files of what they know, which others read late; some of them are away meanwhile.
        mutating func writeFiles() {
            findOrWrite()
            writeFile(oneIn: 2)
            edit()
            writeFile(oneIn: 2)
            var away: [String] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                if names.count > 1, Bool.random(using: &random), let name = names.randomElement(using: &random) {
                    names.removeAll { $0 == name }
                    away.append(name)
                    lines += ["wait 6000", "nap \(name)"]
                }
                commit("delete", by: names, wait: 0)
                writeFile(oneIn: 3)
                lines.append("wait 4000")
                if Int.random(in: 1...5, using: &random) > 1 { lines += ["sleep \(hours())", "wait 4000"] }
                readFile(oneIn: 3)
                for name in names where Bool.random(using: &random) { lines.append("collect \(name)") }
                commit("upsert", by: names, wait: [0, 10, 4_000].randomElement(using: &random) ?? 0)
                for _ in 0..<2 { readFile(oneIn: 2) }
                edit()
                if Bool.random(using: &random), let name = away.popLast() { wake(name) }
            }
            lines.append("wait 4000")
            for name in away { wake(name) }
            for _ in 0..<2 { readFile(oneIn: 2) }
            if Int.random(in: 1...3, using: &random) == 1 { lines += ["sleep \(hours())", "wait 4000"] }
            readFile(oneIn: 1)
            lines.append("wait 5000")
        }

        /// So long that deleted rows are collected; seldom so long that who is away counts no more.
        private mutating func hours() -> Int { Int.random(in: 1...3, using: &random) == 1 ? 2_400 : 960 }

        private mutating func wake(_ name: String) {
            if !names.contains(name) { names.append(name) }
            lines += ["wake \(name)", "wait \(Bool.random(using: &random) ? 0 : 5_000)"]
        }

        private mutating func edit() {
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                commit("update", by: names, wait: [0, 300, 2_000].randomElement(using: &random) ?? 0)
                writeFile(oneIn: 3)
            }
        }

        private mutating func writeFile(oneIn count: Int) {
            guard Int.random(in: 1...count, using: &random) == 1, let name = names.randomElement(using: &random) else { return }
            fileCount += 1
            let others = names.filter { $0 != name }
            let reader = Bool.random(using: &random) ? others.randomElement(using: &random).map { " \($0)" } ?? "" : ""
            lines.append("carry-out \(name) \(fileCount)\(reader)")
        }

        private mutating func readFile(oneIn count: Int) {
            guard fileCount > 0, Int.random(in: 1...count, using: &random) == 1, let name = names.randomElement(using: &random) else {
                return
            }
            lines.append("carry-in \(name) \(Int.random(in: 1...fileCount, using: &random))")
        }

        /// In a third of the scripts some find the row, not all of them with the same values.
        private mutating func findOrWrite() {
            let finders = Int.random(in: 1...3, using: &random) == 1 ? names.filter { _ in Bool.random(using: &random) } : []
            var found = values()
            for name in finders {
                if Int.random(in: 1...3, using: &random) == 1 { found = values() }
                lines.append((["found \(name) \(table) 1"] + found).joined(separator: " "))
            }
            lines.append("wait 4000")
            if finders.isEmpty || Bool.random(using: &random) { commit("upsert", by: names) }
        }

        private mutating func beginAnew(_ here: [String]) {
            for name in here where Int.random(in: 1...3, using: &random) > 1 { lines.append("collect \(name)") }
            commit("upsert", by: here)
            if Bool.random(using: &random) { commit("update", by: here) }
        }

        private mutating func commit(_ verb: String, by names: [String], wait: Int = 4_000) {
            let values = verb == "delete" ? [] : values()
            if verb == "update", values.isEmpty { return }
            let name = names.randomElement(using: &random) ?? "A"
            lines += [(["\(name): \(verb) \(table) 1"] + values).joined(separator: " ")]
            if wait > 0 { lines.append("wait \(wait)") }
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
            let end = first + UInt32.random(in: 1...4, using: &random)
            // A character that nobody types keeps the runs apart.
            nextCharacter = end + 1
            return String(String.UnicodeScalarView((first..<end).compactMap(UnicodeScalar.init)))
        }
    }
}
