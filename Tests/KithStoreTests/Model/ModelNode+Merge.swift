extension Model.Node {
    /// The part of a row that a replica with the vector `since` has not seen, with the row's context.
    func part(of id: String, since: Model.Vector) -> Model.Row? {
        guard let row = rows[id], (row.cellDots + row.tombstones.keys).contains(where: { !Model.covers(since, $0) }) else { return nil }
        var part = row
        part.registers = row.registers.filter { $0.value.keys.contains { !Model.covers(since, $0) } }
        part.sets = row.sets.filter { set in
            set.value.touched.contains { !Model.covers(since, Model.Dot(replica: $0.key, sequence: $0.value)) }
        }
        part.counters = row.counters.mapValues { totals in
            totals.filter { !Model.covers(since, Model.Dot(replica: $0.key, sequence: $0.value.sequence)) }
        }
        part.context = Model.join(vector, row.context)
        return part
    }

    func merge(_ id: String, _ part: Model.Row) {
        var row = rows[id] ?? Model.Row()
        let mine = Model.join(vector, row.context)
        func keep(_ left: some Collection<Model.Dot>, _ right: some Collection<Model.Dot>) -> Set<Model.Dot> {
            Model.keep(Set(left), mine, Set(right), part.context)
        }
        for (column, theirs) in part.registers {
            let ours = row.registers[column, default: [:]]
            let kept = keep(ours.keys, theirs.keys)
            row.registers[column] = ours.merging(theirs) { left, _ in left }.filter { kept.contains($0.key) }
        }
        for (column, theirs) in part.sets {
            var ours = row.sets[column] ?? Model.SetCell()
            for element in Set(ours.elements.keys).union(theirs.elements.keys) {
                ours.elements[element] = keep(ours.elements[element] ?? [], theirs.elements[element] ?? [])
            }
            ours.touched = Model.join(ours.touched, theirs.touched)
            row.sets[column] = ours
        }
        for (column, theirs) in part.counters {
            row.counters[column, default: [:]].merge(theirs) { left, right in left.sequence < right.sequence ? right : left }
        }
        let kept = keep(row.tombstones.keys, part.tombstones.keys)
        row.tombstones = row.tombstones.merging(part.tombstones, uniquingKeysWith: Model.join).filter { kept.contains($0.key) }
        row.context = Model.join(row.context, part.context)
        rows[id] = row
    }

    /// The last slice is in.
    func finish(_ target: Model.Vector) {
        vector = Model.join(vector, target)
        for (id, row) in rows {
            rows[id]?.context = row.context.filter { !Model.covers(vector, Model.Dot(replica: $0.key, sequence: $0.value)) }
        }
    }
}
