import GRDB
import KithLedger
import KithSync

extension TrackedTable {
    /// Declares the table of a record type by the columns that the type names, as GRDB's queries do:
    ///
    ///     struct Recipe: Codable, FetchableRecord, PersistableRecord {
    ///         enum Columns {
    ///             static let steps = Column(CodingKeys.steps)
    ///             static let tags = Column(CodingKeys.tags)
    ///             static let cooked = Column(CodingKeys.cooked)
    ///         }
    ///         static let synced = TrackedTable(Recipe.self, sets: { [$0.tags] }, counters: { [$0.cooked] }, texts: { [$0.steps] })
    ///     }
    ///
    /// A name that is misspelt does not compile; a column that the table does not have is refused when the store is opened. The
    /// parameters are those of ``init(_:sets:counters:texts:attachments:position:localColumns:renamed:deletePolicy:key:ids:journal:)``.
    public init<Record: TableRecord>(
        _ record: Record.Type,
        sets: (Record.DatabaseComponents) -> [any ColumnExpression] = { _ in [] },
        counters: (Record.DatabaseComponents) -> [any ColumnExpression] = { _ in [] },
        texts: (Record.DatabaseComponents) -> [any ColumnExpression] = { _ in [] },
        attachments: (Record.DatabaseComponents) -> [any ColumnExpression] = { _ in [] },
        position: ((Record.DatabaseComponents) -> any ColumnExpression)? = nil,
        localColumns: (Record.DatabaseComponents) -> [any ColumnExpression] = { _ in [] },
        renamed: [String: String] = [:], deletePolicy: DeletePolicy = .updateWins,
        key: ((Record.DatabaseComponents) -> [any ColumnExpression])? = nil, ids: KeyForm? = nil, journal: Journal? = nil
    ) {
        func names(_ columns: (Record.DatabaseComponents) -> [any ColumnExpression]) -> [String] {
            columns(Record.databaseComponents).map(\.name)
        }
        self.init(
            Record.databaseTableName, sets: names(sets), counters: names(counters), texts: names(texts), attachments: names(attachments),
            position: position.map { $0(Record.databaseComponents).name }, localColumns: Set(names(localColumns)), renamed: renamed,
            deletePolicy: deletePolicy, key: key.map(names), ids: ids, journal: journal)
    }

    /// The same by the coding keys of a record type that has no `Columns`:
    ///
    ///     TrackedTable(Recipe.self, by: Recipe.CodingKeys.self, sets: [.tags], counters: [.cooked], texts: [.steps])
    public init<Record: TableRecord, Key: CodingKey>(
        _ record: Record.Type, by keys: Key.Type, sets: [Key] = [], counters: [Key] = [], texts: [Key] = [], attachments: [Key] = [],
        position: Key? = nil, localColumns: [Key] = [], renamed: [String: String] = [:], deletePolicy: DeletePolicy = .updateWins,
        key: [Key]? = nil, ids: KeyForm? = nil, journal: Journal? = nil
    ) {
        self.init(
            Record.databaseTableName, sets: sets.map(\.stringValue), counters: counters.map(\.stringValue),
            texts: texts.map(\.stringValue), attachments: attachments.map(\.stringValue), position: position?.stringValue,
            localColumns: Set(localColumns.map(\.stringValue)), renamed: renamed, deletePolicy: deletePolicy,
            key: key.map { $0.map(\.stringValue) }, ids: ids, journal: journal)
    }
}
