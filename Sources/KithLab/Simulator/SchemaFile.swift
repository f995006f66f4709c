import Foundation
import GRDB
import KithStore
import KithSync
import KithTesting

/// The tables of an SQL file: those that synchronise, and how they merge.
struct SchemaFile {
    private let path: String
    private let sql: String
    private let options: SimulatorOptions
    private let tables: [FileTable]
    /// What an update of the app runs, and the tables before it; ``tables`` are those after it.
    private let update: (sql: String, olderTables: [FileTable])?

    /// - Throws: ``LabError`` for a file that cannot be read, that SQLite does not accept, or of which no table synchronises, and
    ///   for options that name other tables or columns.
    init(path: String, options: SimulatorOptions) throws(LabError) {
        self.path = path
        self.options = options
        sql = try InputFile.read(path)
        let created = try Self.reading(path) { [sql] in try FileTable.all(of: sql) }
        if let updatePath = options.updatePath {
            let updateSQL = try InputFile.read(updatePath)
            update = (updateSQL, created)
            tables = try Self.reading(updatePath) { [sql] in try FileTable.all(of: sql, updateSQL) }
        } else {
            update = nil
            tables = created
        }
        guard tables.contains(where: \.takesPart) else {
            let others = tables.map(\.whyLeftOut).joined(separator: "; ")
            throw LabError(
                .data,
                "Nothing can be tried out with \(options.updatePath ?? path): \(others.isEmpty ? "it makes no table" : others). "
                    + "The rows of a table that synchronises are named by UUIDs: id BLOB PRIMARY KEY NOT NULL, or id TEXT PRIMARY KEY NOT NULL."
            )
        }
        try checkNames()
    }

    private static func reading(_ path: String, _ body: () throws -> [FileTable]) throws(LabError) -> [FileTable] {
        do {
            return try body()
        } catch {
            throw LabError(.data, "\(path) cannot be used: \((error as? DatabaseError)?.message ?? "\(error)")")
        }
    }

    /// - Throws: ``LabError`` that says which table cannot be tracked or simulated, and why.
    func simulator() throws(LabError) -> KithSimulator {
        do {
            return try KithSimulator(schema)
        } catch {
            throw LabError(.data, "\(path) cannot be simulated. \((error as? StoreError)?.message ?? "\(error)")")
        }
    }

    private var schema: SimulatedSchema {
        let declared = declarations(tables)
        var schema =
            if let update {
                SimulatedSchema(sql: sql, olderTables: declarations(update.olderTables), update: update.sql, tables: declared)
            } else {
                SimulatedSchema(sql: sql, tables: declared)
            }
        schema.filled = options.filled.compactMap { rule in
            let parts = rule.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? FilledTable(String(parts[0]), holds: String(parts[1])) : nil
        }
        return schema
    }

    /// Which tables take part, and what of the file does not.
    var summary: String {
        var sentences = ["Simulated: \(Self.names(tables))."]
        if let update { sentences.append("Before the update: \(Self.names(update.olderTables)).") }
        let others = tables.filter { !$0.takesPart }
        if !others.isEmpty { sentences.append("Left out: \(others.map(\.whyLeftOut).joined(separator: "; ")).") }
        let filled = tables.filter { $0.takesPart && $0.hasRows }.map(\.name)
        if !filled.isEmpty {
            sentences.append(
                "Rows that \(path) inserts into \(filled.joined(separator: ", ")) are left out: machines begin with empty tables.")
        }
        return sentences.joined(separator: " ")
    }

    private static func names(_ tables: [FileTable]) -> String {
        let names = tables.filter(\.takesPart).map(\.name)
        return names.isEmpty ? "none" : names.joined(separator: ", ")
    }

    /// How one version of the app declares its tables.
    private func declarations(_ tables: [FileTable]) -> [TrackedTable] {
        tables.filter(\.takesPart).map { table in
            func columns(_ names: [String]) -> [String] { names.compactMap { column($0, of: table) } }
            let key = columns(options.keys)
            return TrackedTable(
                table.name, sets: columns(options.sets), counters: columns(options.counters), texts: columns(options.texts),
                deletePolicy: options.deleteWins.contains(table.name) ? .deleteWins : .updateWins, key: key.isEmpty ? nil : key)
        }
    }

    // MARK: Names in options

    private func checkNames() throws(LabError) {
        let participants = tables.filter(\.takesPart)
        for name in options.deleteWins where !participants.contains(where: { $0.name == name }) {
            throw LabError(.usage, "--delete-wins \(name): \(noTable(name))")
        }
        for rule in options.filled where !tables.contains(where: { !$0.takesPart && rule.hasPrefix($0.name + "=") }) {
            throw LabError(.usage, "--filled \(rule): write TABLE=QUERY, with a table that does not synchronise itself and is not virtual.")
        }
        var kinds: [String: String] = [:]
        for (option, names) in [
            ("--set", options.sets), ("--counter", options.counters), ("--text", options.texts), ("--key", options.keys),
        ] {
            for name in names {
                guard participants.contains(where: { column(name, of: $0) != nil }) else {
                    throw LabError(.usage, "\(option) \(name): \(noColumn(name))")
                }
                if let other = kinds.updateValue(option, forKey: name), other != option {
                    throw LabError(.usage, "\(name) cannot be both \(other) and \(option): a column merges in one way. Leave one out.")
                }
            }
        }
    }

    /// The column of `table` that `TABLE.COLUMN` names; both names may have dots.
    private func column(_ name: String, of table: FileTable) -> String? {
        guard name.hasPrefix(table.name + ".") else { return nil }
        let column = String(name.dropFirst(table.name.count + 1))
        return table.columns.contains(column) ? column : nil
    }

    private func noColumn(_ name: String) -> String {
        if let table = tables.first(where: { $0.takesPart && name.hasPrefix($0.name + ".") }) {
            return "\(table.name) has no such column; it has \(table.columns.joined(separator: ", "))."
        }
        guard let dot = name.firstIndex(of: ".") else { return "write TABLE.COLUMN." }
        return noTable(String(name[..<dot]))
    }

    private func noTable(_ name: String) -> String {
        if let table = tables.first(where: { $0.name == name }) { return "that table takes no part: \(table.whyLeftOut)." }
        return "there is no table \(name); those that synchronise: \(tables.filter(\.takesPart).map(\.name).joined(separator: ", "))."
    }
}
