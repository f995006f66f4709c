import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Finds what refers to attachments.
struct AttachmentReferences {
    let connection: DatabaseConnection

    /// The attachments that visible rows show in these columns.
    func shown(table: String, columns: [String]) throws -> [AttachmentID] {
        try columns.flatMap { column in
            let name = quoted(column)
            let select = try connection.statement(
                "SELECT DISTINCT \(name) FROM main.\(quoted(table)) WHERE typeof(\(name)) = 'text' AND length(\(name)) = \(digits)")
            var ids: [AttachmentID] = []
            while try select.step() {
                if let id = AttachmentID(digits: select.blob(0)) { ids.append(id) }
            }
            return ids
        }
    }

    /// The attachments that one row shows in these columns.
    func shown(_ tracked: CatalogTable.Tracked, columns: [String], id: RowID) throws -> [AttachmentID] {
        try columns.compactMap { column in
            let select = try connection.statement(
                "SELECT \(quoted(column)) FROM \(tracked.mainName) WHERE \(quoted(tracked.key)) = ? AND typeof(\(quoted(column))) = 'text'")
            select.bind(1, id, as: tracked.form)
            defer { select.reset() }
            return try select.step() ? AttachmentID(digits: select.blob(0)) : nil
        }
    }

    /// Everything that could be a reference: in the tables that Kith knows, whichever columns this process has declared, and in its
    /// own records, which hold alternatives, those that were superseded lately, deleted rows and rows of unknown tables.
    ///
    /// Where a record is not understood by this version, any 64 digits in a row count as one. Too much is kept rather than too little.
    func all(_ catalog: Catalog) throws -> Set<AttachmentID> {
        var found: Set<AttachmentID> = []
        for table in catalog.tables {
            let name = String(decoding: table.name, as: UTF8.self)
            for column in try columns(of: name) { found.formUnion(try shown(table: name, columns: [column])) }
            let clocks = ClockTable.name(table.number)
            if try !columns(of: clocks).isEmpty { try scan("SELECT exceptions FROM \(clocks) WHERE exceptions IS NOT NULL", into: &found) }
        }
        for sql in [HiddenRows.statesSQL, RemovedRows.valuesSQL] { try scan(sql, into: &found) }
        found.formUnion(try shown(table: SupersededValues.table, columns: ["value"]))
        return found
    }

    private var digits: Int { 2 * AttachmentID.byteCount }

    private func columns(of table: String) throws -> [String] {
        let select = try connection.statement("SELECT name FROM pragma_table_info(?)")
        select.bind(1, .text(table))
        var names: [String] = []
        while try select.step() { names.append(String(decoding: select.blob(0), as: UTF8.self)) }
        return names
    }

    private func scan(_ sql: String, into found: inout Set<AttachmentID>) throws {
        let select = try connection.statement(sql)
        while try select.step() {
            let record = select.blob(0)
            var start = 0
            for (end, byte) in record.enumerated() {
                guard AttachmentID.isDigit(byte) else {
                    start = end + 1
                    continue
                }
                if end + 1 - start >= digits, let id = AttachmentID(digits: record[(end + 1 - digits)...end]) { found.insert(id) }
            }
        }
    }
}
