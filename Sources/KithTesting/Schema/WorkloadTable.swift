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
    }

    /// What SQLite makes of the declared type (https://www.sqlite.org/datatype3.html, section 3.1).
    enum Affinity: Sendable {
        case integer, text, real, any
    }

    let name: String
    let key: String
    let deletePolicy: DeletePolicy
    /// The synchronised columns, without the key and without those that refer to other rows.
    let columns: [Column]

    func column(named name: String) -> Int? {
        columns.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
    }
}
