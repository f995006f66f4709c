import KithSQLite

/// Which tables the triggers of the app write, for each table whose rows they follow.
package struct TriggerTargets: Sendable {
    private var targets: [String: Set<String>] = [:]

    package var isEmpty: Bool { targets.isEmpty }

    /// Notes the trigger `sql`, which stands on `table`.
    package mutating func add(_ sql: String, on table: String) {
        targets[table.asciiLowercased, default: []].formUnion(Self.written(by: sql))
    }

    /// All that may be written when rows of `tables` are, through however many triggers; in lower case, without these tables.
    package func reached(from tables: [String]) -> Set<String> {
        let first = Set(tables.map { $0.asciiLowercased })
        var reached = first
        var stack = Array(first)
        while let table = stack.popLast() {
            for target in targets[table] ?? [] where reached.insert(target).inserted { stack.append(target) }
        }
        return reached.subtracting(first)
    }

    /// The tables that the statements of a trigger name as what they write; words that only look like it do no harm.
    private static func written(by sql: String) -> Set<String> {
        var written: Set<String> = []
        let tokens = SQLToken.tokens(of: sql)
        for (index, token) in tokens.enumerated() {
            guard case .name(let word) = token else { continue }
            var next = index + 1
            switch word {
            case "into", "from": break
            case "update":
                // UPDATE OR IGNORE table
                if tokens.dropFirst(next).first == .name("or") { next += 2 }
            default: continue
            }
            if word == "from", index == 0 || tokens[index - 1] != .name("delete") { continue }
            if case .name(let table)? = tokens.dropFirst(next).first { written.insert(table.asciiLowercased) }
        }
        return written
    }
}
