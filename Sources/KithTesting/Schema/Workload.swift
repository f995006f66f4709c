/// What users write into: the app's tables, and those of its older version.
struct Workload: Sendable {
    let schema: SimulatedSchema
    let tables: [WorkloadTable]
    /// The same tables, with what the older version does not know marked; `nil` if there is no older version.
    let olderTables: [WorkloadTable]?

    /// The tables of which an update drops columns: who is updated loses what stood there, and gets it back, unseen, by comparing digests.
    let tablesLosingColumns: Set<Int>

    private let template: StoreTemplate
    private let olderTemplate: StoreTemplate?

    /// - Throws: what the migrations or the store throw, such as a `StoreError` that says why a table cannot be tracked, and
    ///   ``SchemaError`` for what cannot be judged.
    init(_ schema: SimulatedSchema) throws {
        if schema.tables.isEmpty { throw SchemaError("The schema declares no table, so nothing would be judged. Declare some.") }
        if schema.judgesHistory, !schema.tables.contains(where: { $0.journal != nil }) {
            throw SchemaError("No table has a journal, so no history would be judged. Declare one: TrackedTable(…, journal: .days(30)).")
        }
        self.schema = schema
        template = try StoreTemplate(schema.current, of: schema)
        olderTemplate = try schema.older.map { try StoreTemplate($0, of: schema) }
        if let olderTemplate { try template.checkTakesOver(olderTemplate) }
        var tables = try template.tables()
        for index in tables.indices {
            tables[index].isReserved = schema.invariants.contains { $0.table == tables[index].name }
        }
        for invariant in schema.invariants {
            try Self.check(invariant, schema, tables)
            try template.check(invariant)
        }
        let older = try olderTemplate?.tables()
        tablesLosingColumns = Set(
            tables.indices.filter { index in
                let before = older?.first { $0.name.utf8.elementsEqual(tables[index].name.utf8) }
                return before?.columns.contains { tables[index].column(named: $0.name) == nil } == true
            })
        for table in tables {
            let before = older?.first { $0.name.utf8.elementsEqual(table.name.utf8) }
            try before.map { try Self.checkKinds(table, $0) }
        }
        let filled = Set(template.filled + (olderTemplate?.filled ?? []))
        if let table = schema.filled.first(where: { !filled.contains($0.name) }) {
            throw SchemaError(
                "No trigger on a table that synchronises fills the table \(table.name), or SQLite does not tell of it, as of virtual tables "
                    + "and those without rowids. So nothing would be judged. Leave it out, and state what it holds as an invariant.")
        }
        self.tables = tables
        olderTables = older.map { [tables] older in tables.map { $0.known(in: older) } }
    }

    /// - Throws: ``SchemaError`` if no statement could keep the invariant.
    private static func check(_ invariant: Invariant, _ schema: SimulatedSchema, _ tables: [WorkloadTable]) throws(SchemaError) {
        let table = tables.first { $0.name == invariant.table }
        func column(_ name: String) -> WorkloadTable.Column? { table?.columns.first { $0.name == name } }
        let (isKept, need) =
            switch invariant {
            case .sum(_, let name): (column(name)?.kind == .counter, "a counter")
            case .ring(_, let name):
                (
                    column(name).map { $0.kind == .register && $0.reference == nil } == true,
                    "a column that is written as a whole and refers to no table"
                )
            case .order(_, let name):
                (schema.tables.contains { $0.name == table?.name && $0.position == name }, "the position of its table")
            case .always, .converged: (true, "")
            }
        if isKept { return }
        throw SchemaError("\(invariant): that needs a table that synchronises, and in it \(need). Name these.")
    }

    /// - Throws: ``SchemaError`` if a column has another kind in the older version: to who has that, it is another column.
    private static func checkKinds(_ table: WorkloadTable, _ before: WorkloadTable) throws(SchemaError) {
        for column in table.columns {
            guard let index = before.column(named: column.name), before.columns[index].kind != column.kind else { continue }
            throw SchemaError(
                "The older version of the app declares \(table.name).\(column.name) as another kind of column. The simulator cannot judge what "
                    + "users of both versions write there. Declare the same kind in both.")
        }
    }

    /// Whether tables have constraints or triggers that may refuse what a merge brings.
    var hasRules: Bool { tables.contains(where: \.mayRefuse) || olderTables?.contains(where: \.mayRefuse) == true }
    /// The tables that triggers fill, in either version.
    var filled: [String] { Set(template.filled + (olderTemplate?.filled ?? [])).sorted() }

    /// What a machine has that was just set up with the app as it is, or with its older version.
    func template(isOld: Bool) -> StoreTemplate {
        if isOld, let olderTemplate { olderTemplate } else { template }
    }
}
