import GRDB
import KithSync

/// The order of what stands in texts. Which characters stand there is compared at every step.
extension Simulation {
    /// All show the same texts, and what was typed in one go stands in its order.
    func checkTexts() throws {
        guard let first = speakers.first else { return }
        let stranded = strandedRows
        let rows = ledger.rows.filter { !stranded.contains($0) && !taint.covers($0) }
        for node in speakers.dropFirst() { try checkTexts(of: node, as: first, rows) }
        for (key, text) in try texts(of: first, as: first, rows) {
            let characters = Array(String(decoding: text, as: UTF8.self).unicodeScalars)
            var positions: [UInt32: Int] = [:]
            for (position, scalar) in characters.enumerated() { positions[scalar.value] = position }
            for (position, scalar) in characters.enumerated() {
                guard positions[scalar.value + 1, default: .max] > position else {
                    throw Violation(
                        .wrongState,
                        "\(first.name) shows what was typed in one go in another order in \(name(key)): \(Literal(.text(text))).")
                }
            }
        }
    }

    func checkTexts(of node: SimulatedNode, as other: SimulatedNode, _ rows: [RowKey]) throws {
        for (one, two) in zip(try texts(of: node, as: other, rows), try texts(of: other, as: node, rows)) where one.text != two.text {
            throw Violation(
                .noConvergence,
                """
                \(node.name) and \(other.name) know the same and show different texts in \(name(one.key)): \
                \(Literal(.text(one.text))), \(Literal(.text(two.text))).
                """)
        }
    }

    /// The texts of some rows, as they stand, in columns that two nodes have; those that are not there are empty.
    private func texts(of node: SimulatedNode, as other: SimulatedNode, _ rows: [RowKey]) throws -> [(key: RowKey, text: [UInt8])] {
        try node.database.writeWithoutTransaction { db in
            try rows.flatMap { key in
                let table = workload.tables[key.table]
                let known = zip(node.tables[key.table].columns, other.tables[key.table].columns).map { $0.isKnown && $1.isKnown }
                let areKnown = node.tables[key.table].isKnown && other.tables[key.table].isKnown
                return try zip(table.columns, known).filter { areKnown && $1 && $0.kind == .text }.map { column, _ in
                    let sql = "SELECT \(quoted(column.name)) FROM \(quoted(table.name)) WHERE \(quoted(table.key)) = ?"
                    let text = try String.fetchOne(db, sql: sql, arguments: [table.key(of: key.row).databaseValue])
                    return (key, Array((text ?? "").utf8))
                }
            }
        }
    }

    private func name(_ key: RowKey) -> String { "\(workload.tables[key.table].name) \(key.row)" }
}
