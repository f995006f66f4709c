extension Model {
    /// One replica of the model.
    final class Node {
        let name: String
        let deleteWins: Bool
        var vector: Vector = [:]
        var clock: UInt64 = 0
        var rows: [String: Row] = [:]

        init(_ name: String, deleteWins: Bool) {
            self.name = name
            self.deleteWins = deleteWins
        }

        // MARK: Reading

        func isVisible(_ id: String) -> Bool {
            guard let row = rows[id] else { return false }
            if row.tombstones.isEmpty { return !row.registers.isEmpty || !row.sets.isEmpty || !row.counters.isEmpty }
            if deleteWins { return false }
            let seen = row.tombstones.values.reduce([:], join)
            return row.cellDots.contains { !covers(seen, $0) }
        }

        /// What the replica shows and which alternatives it keeps, as text that two replicas can be compared by.
        func answer() -> [String: String] {
            var answer: [String: String] = [:]
            for (id, row) in rows where isVisible(id) {
                var parts: [String] = []
                for (column, writes) in row.registers {
                    guard let shown = winner(writes), let value = writes[shown]?.value else { continue }
                    // Equal values are one, and one that is shown is no alternative.
                    let others = Dictionary(grouping: writes.filter { $0.value.value != value }, by: \.value.value).values.map { equal in
                        let dot = winner(Dictionary(uniqueKeysWithValues: equal.map { ($0.key, $0.value) })) ?? shown
                        return "\(dot.replica)\(dot.sequence)=\(equal[0].value.value)"
                    }
                    parts.append("\(column)=\(value) or \(others.sorted())")
                }
                for (column, set) in row.sets {
                    parts.append("\(column)=\(set.elements.filter { !$0.value.isEmpty }.keys.sorted())")
                }
                for (column, totals) in row.counters {
                    parts.append("\(column)=\(totals.values.reduce(0) { $0 + $1.amount })")
                }
                answer[id] = parts.sorted().joined(separator: "; ")
            }
            return answer
        }

        // MARK: One local transaction

        private var dot = Dot(replica: "", sequence: 0)

        func begin(now: UInt64) {
            dot = Dot(replica: name, sequence: vector[name, default: 0] + 1)
            clock = max(clock + 1, now)
            vector[name] = dot.sequence
        }

        /// A new row, or a new life of a deleted one.
        func insert(_ id: String, title: Content, color: Content, tags: [String], views: Int64) {
            var row = rows[id] ?? Row()
            row.tombstones = [:]
            row.registers["title"] = [dot: Write(timestamp: clock, value: title)]
            row.registers["color"] = [dot: Write(timestamp: clock, value: color)]
            var set = row.sets["tags"] ?? SetCell()
            set.elements = Dictionary(uniqueKeysWithValues: tags.map { ($0, [dot]) })
            set.touched[name] = dot.sequence
            row.sets["tags"] = set
            let others = row.counters["views", default: [:]].filter { $0.key != name }.values.reduce(0) { $0 + $1.amount }
            row.counters["views", default: [:]][name] = Total(sequence: dot.sequence, amount: views - others)
            rows[id] = row
        }

        func delete(_ id: String) {
            guard let clock = rows[id]?.clock else { return }
            rows[id]?.tombstones = [dot: clock]
        }

        /// Returns the writes that were superseded: all of the value that was shown.
        func set(_ id: String, _ column: String, _ value: Content) -> [Dot] {
            let writes = rows[id]?.registers[column] ?? [:]
            let gone = winner(writes).map { shown in writes.filter { $0.value.value == writes[shown]?.value }.map(\.key) } ?? []
            for write in gone { rows[id]?.registers[column]?[write] = nil }
            rows[id]?.registers[column, default: [:]][dot] = Write(timestamp: clock, value: value)
            rows[id]?.tombstones = [:]
            return gone
        }

        /// Writes what was made without having seen what is there. A commit has one write in a register.
        func beside(_ id: String, _ column: String, _ value: Content) -> [Dot] {
            if rows[id]?.registers[column]?[dot] != nil { return set(id, column, value) }
            rows[id]?.registers[column, default: [:]][dot] = Write(timestamp: clock, value: value)
            rows[id]?.tombstones = [:]
            return []
        }

        /// Returns the writes that were superseded.
        func resolve(_ id: String, _ column: String, _ value: Content) -> [Dot] {
            let gone = rows[id]?.registers[column].map { Array($0.keys) } ?? []
            rows[id]?.registers[column] = [dot: Write(timestamp: clock, value: value)]
            rows[id]?.tombstones = [:]
            return gone
        }

        func change(_ id: String, tag: String, isAdded: Bool) {
            rows[id]?.sets["tags", default: SetCell()].elements[tag] = isAdded ? [dot] : []
            rows[id]?.sets["tags"]?.touched[name] = dot.sequence
            rows[id]?.tombstones = [:]
        }

        func increment(_ id: String, by amount: Int64) {
            let before = rows[id]?.counters["views"]?[name]?.amount ?? 0
            rows[id]?.counters["views", default: [:]][name] = Total(sequence: dot.sequence, amount: before + amount)
            rows[id]?.tombstones = [:]
        }

        var currentDot: Dot { dot }
    }
}
