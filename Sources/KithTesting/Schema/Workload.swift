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
        self.schema = schema
        template = try StoreTemplate(schema.current, allowsTriggers: schema.takesTriggersForFaults)
        olderTemplate = try schema.older.map { try StoreTemplate($0, allowsTriggers: schema.takesTriggersForFaults) }
        if let olderTemplate { try template.checkTakesOver(olderTemplate) }
        var tables = try template.tables()
        for index in tables.indices {
            tables[index].isReserved = schema.invariants.contains { $0.table == tables[index].name }
        }
        let older = try olderTemplate?.tables()
        tablesLosingColumns = Set(
            tables.indices.filter { index in
                let before = older?.first { $0.name.utf8.elementsEqual(tables[index].name.utf8) }
                return before?.columns.contains { tables[index].column(named: $0.name) == nil } == true
            })
        self.tables = tables
        olderTables = older.map { [tables] older in tables.map { $0.known(in: older) } }
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
