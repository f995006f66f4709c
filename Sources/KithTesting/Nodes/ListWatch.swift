import GRDB
import KithStore
import KithSync

/// A list as an app shows it that follows a table by differences.
struct ListWatch {
    /// A row of any table.
    struct Entry: FetchableRecord, EncodableRecord, Identifiable, Hashable, Sendable {
        let id: String
        let values: [String: DatabaseValue]

        init(row: Row) {
            let key: DatabaseValue = row[ListWatch.key] ?? .null
            id =
                switch key.storage {
                case .blob(let bytes): bytes.map { String($0, radix: 16) }.joined(separator: "-")
                default: "\(key)"
                }
            values = Dictionary(row.map { ($0, $1) }) { first, _ in first }
        }

        func encode(to container: inout PersistenceContainer) {
            for (column, value) in values { container[column] = value }
        }
    }

    /// The name under which a request gives the row's key.
    static let key = "kith_list_key"

    let table: String
    private let request: QueryInterfaceRequest<Entry>
    private let changes: SteppedLiveChanges<Entry>
    private var list: [Entry] = []

    /// Orders rows by their first two columns, so that they move.
    init(_ table: WorkloadTable, _ store: SyncedDatabase) {
        self.table = table.name
        let columns = table.columns.filter(\.isKnown).prefix(2).map { Column($0.name) }
        let key = Column(table.key)
        let request = Table<Entry>(table.name).all().annotated(with: [key.forKey(Self.key)]).order(columns.map(\.desc) + [key.asc])
        self.request = request
        changes = SteppedLiveChanges(store, request)
    }

    /// Applies what is different to the list that is shown, as a user interface does. Returns what is wrong with it; `nil` if it is what a
    /// query gets.
    mutating func look(_ db: () throws -> [Entry]) throws -> String? {
        if let change = try changes.next() {
            if let wrong = apply(change.difference, change.rows) { return wrong }
            if Array(change.rows) != list { return "the rows of a change are not what its differences make" }
        }
        let rows = try db()
        return rows == list ? nil : "it shows \(list.map(\.id)) where a query gets \(rows.map(\.id)), or other values"
    }

    func fetch(_ db: Database) throws -> [Entry] { try request.fetchAll(db) }

    private mutating func apply(_ difference: LiveDifference<String>, _ rows: LiveRows<Entry>) -> String? {
        var isGone = Set(difference.removals.map(\.offset)).union(difference.moves.map(\.from))
        var moved: [Int: Entry] = [:]
        for removal in difference.removals where !list.indices.contains(removal.offset) || list[removal.offset].id != removal.id {
            return "\(removal.id) is removed at \(removal.offset), where it does not stand"
        }
        for move in difference.moves {
            guard list.indices.contains(move.from), list[move.from].id == move.id else {
                return "\(move.id) is moved from \(move.from), where it does not stand"
            }
            moved[move.to] = list[move.from]
        }
        for insertion in difference.insertions {
            guard rows.indices.contains(insertion.offset) else { return "\(insertion.id) is inserted at \(insertion.offset), past the end" }
            moved[insertion.offset] = rows[insertion.offset]
        }
        var rest = list.indices.filter { isGone.remove($0) == nil }.map { list[$0] }[...]
        var new: [Entry] = []
        while new.count < rows.count {
            if let entry = moved[new.count] { new.append(entry) } else if let entry = rest.popFirst() { new.append(entry) } else { break }
        }
        if !rest.isEmpty || new.count != rows.count { return "its differences make \(new.count + rest.count) rows of \(rows.count)" }
        for update in difference.updates {
            guard new.indices.contains(update.offset), new[update.offset].id == update.id else {
                return "\(update.id) is updated at \(update.offset), where it does not stand"
            }
            let (old, now) = (new[update.offset].values, rows[update.offset].values)
            let columns = Set(now.keys.filter { old[$0] != now[$0] })
            if columns != update.columns {
                return "\(update.id) is told to differ in \(update.columns.sorted()), and does in \(columns.sorted())"
            }
            new[update.offset] = rows[update.offset]
        }
        list = new
        return nil
    }
}
