import KithStore
import KithSync

/// What a workload needs to know of one tracked table.
struct WorkloadTable: Sendable {
    struct Column: Sendable {
        let name: String
        let kind: ColumnKind
        let affinity: Affinity
        let isNullable: Bool
        /// What a row has that was inserted without this column.
        var defaultValue: ColumnValue
        /// Whether that is the same each time. If not, as with the time of day, users always give ``defaultValue`` themselves.
        var hasSteadyDefault = true
        /// Whether the version of the app that runs on a node has it.
        var isKnown = true
        /// The table to whose rows it refers.
        var reference: WorkloadReference?

        /// Whether a row of which nobody has written it cannot be shown: a reference that is `NOT NULL` without a default.
        var isRequired: Bool { reference != nil && !isNullable && (defaultValue == .null || !hasSteadyDefault) }
    }

    /// What SQLite makes of the declared type (https://www.sqlite.org/datatype3.html, section 3.1).
    enum Affinity: Sendable, CaseIterable {
        case integer, numeric, text, real, any

        init(of declaredType: String, isStrict: Bool) {
            let type = declaredType.uppercased()
            func has(_ words: String...) -> Bool { words.contains { type.contains($0) } }
            self =
                if has("INT") { .integer } else if has("CHAR", "CLOB", "TEXT") { .text } else if type.isEmpty || has("BLOB") {
                    .any
                } else if isStrict, type == "ANY" { .any } else { has("REAL", "FLOA", "DOUB") ? .real : .numeric }
        }

        /// Whether a column stores `value` as it is, and not what it takes for the same in its type.
        func keeps(_ value: ColumnValue) -> Bool {
            switch (self, value) {
            case (.text, .integer), (.text, .real), (.real, .integer): false
            case (.integer, .real(let bits)), (.numeric, .real(let bits)): Int64(exactly: Double(bitPattern: bits)) == nil
            case (.integer, .text(let bytes)), (.numeric, .text(let bytes)), (.real, .text(let bytes)):
                Double(String(decoding: bytes, as: UTF8.self)) == nil
            default: true
            }
        }

        /// A type that SQLite treats alike.
        var typeName: String {
            switch self {
            case .integer: "INTEGER"
            case .numeric: "NUMERIC"
            case .text: "TEXT"
            case .real: "REAL"
            case .any: "BLOB"
            }
        }
    }

    let name: String
    let key: String
    /// How rows are named in ``key``, and in columns that refer to them.
    let form: KeyForm
    let deletePolicy: DeletePolicy
    /// The synchronised columns, without the key.
    var columns: [Column]
    /// The columns of the natural key; none if ids are made freely.
    let keyColumns: [Column]
    /// Whether the version of the app that runs on a node has it.
    var isKnown = true
    /// Whether only statements that keep an invariant write it.
    var isReserved = false
    /// Whether it refers to tables, or tables refer to it, in the newest version of the app.
    var isRelated = false
    /// Whether the version of the app that runs on a node keeps a journal of it.
    var hasJournal = false
    /// Whether the app's own `CHECK` constraints or triggers may refuse a statement.
    var mayRefuse = false
    /// Whether what its foreign keys demand may be so at the end of a transaction only: then SQLite says what a statement does.
    var defersReferences = false

    /// Reads one row: its columns in order, NULL for those that are not known.
    private(set) var selection = ""

    init(name: String, key: String, form: KeyForm = .blob, deletePolicy: DeletePolicy, columns: [Column], keyColumns: [Column]) {
        self.name = name
        self.key = key
        self.form = form
        self.deletePolicy = deletePolicy
        self.columns = columns
        self.keyColumns = keyColumns
        select()
    }

    // MARK: Rows

    /// The id of a script's row.
    func id(of row: Int) -> RowID {
        let free = RowID(high: 0, low: UInt64(row))
        return keyColumns.isEmpty ? free : RowID(table: Array(name.utf8), key: keyValues(of: row)) ?? free
    }

    /// What names that row in the table.
    func key(of row: Int) -> ColumnValue { form.value(id(of: row)) }

    /// What the columns of the natural key hold in that row.
    func keyValues(of row: Int) -> [ColumnValue] {
        keyColumns.map { [.integer, .numeric].contains($0.affinity) ? .integer(Int64(row)) : .text("k\(row)") }
    }

    // MARK: Versions

    private mutating func select() {
        let names = columns.map { $0.isKnown ? quoted($0.name) : "NULL" } + ["1"]
        selection = "SELECT \(names.joined(separator: ", ")) FROM \(quoted(name)) WHERE \(quoted(key)) = ?"
    }

    /// The table as a version of the app with `others` knows it.
    func known(in others: [WorkloadTable]) -> WorkloadTable {
        var table = self
        let other = others.first { $0.name.utf8.elementsEqual(name.utf8) }
        table.isKnown = other != nil
        table.hasJournal = other?.hasJournal == true
        for index in columns.indices { table.columns[index].isKnown = other?.column(named: columns[index].name) != nil }
        table.select()
        return table
    }

    /// The statement as a user of this version of the app would write it: without columns that it does not have.
    func known(of write: RowWrite) -> RowWrite {
        var write = write
        write.assignments.removeAll { assignment in column(named: assignment.column).map { !columns[$0].isKnown } ?? true }
        if write.assignments.isEmpty, write.verb == .resolve { write.verb = .update }
        if [.insert, .upsert, .replace].contains(write.verb) {
            for column in columns where column.isKnown && !column.hasSteadyDefault {
                if write.assignments.contains(where: { $0.column.utf8.elementsEqual(column.name.utf8) }) { continue }
                write.assignments.append(Assignment(column.name, Literal(column.defaultValue)))
            }
        }
        return write
    }

    func column(named name: String) -> Int? {
        columns.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
    }
}
