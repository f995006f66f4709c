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
        let defaultValue: Value
        /// Whether the version of the app that runs on a node has it.
        var isKnown = true
        /// The table to whose rows it refers.
        var reference: WorkloadReference?
    }

    /// What SQLite makes of the declared type (https://www.sqlite.org/datatype3.html, section 3.1).
    enum Affinity: Sendable {
        case integer, text, real, any
    }

    let name: String
    let key: String
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

    /// Reads one row: its columns in order, NULL for those that are not known.
    private(set) var selection = ""

    init(name: String, key: String, deletePolicy: DeletePolicy, columns: [Column], keyColumns: [Column]) {
        self.name = name
        self.key = key
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

    /// What the columns of the natural key hold in that row.
    func keyValues(of row: Int) -> [Value] {
        keyColumns.map { $0.affinity == .integer ? .integer(Int64(row)) : .text("k\(row)") }
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
        for index in columns.indices { table.columns[index].isKnown = other?.column(named: columns[index].name) != nil }
        table.select()
        return table
    }

    /// The statement as a user of this version of the app would write it: without columns that it does not have.
    func known(of write: RowWrite) -> RowWrite {
        var write = write
        write.assignments.removeAll { assignment in column(named: assignment.column).map { !columns[$0].isKnown } ?? true }
        if write.assignments.isEmpty, write.verb == .resolve { write.verb = .update }
        return write
    }

    func column(named name: String) -> Int? {
        columns.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
    }
}
