import KithSync

/// The tables that this process has declared, as they stand in the database it opened.
package struct Declarations: Sendable {
    /// A foreign key: the column, and the tracked table whose id it holds.
    package struct Reference: Sendable {
        package let column: String
        package let parent: String
        package let rule: ReferenceRule

        package init(column: String, parent: String, rule: ReferenceRule) {
            self.column = column
            self.parent = parent
            self.rule = rule
        }
    }

    package struct Table: Sendable {
        package let name: String
        package let key: String
        package let form: KeyForm
        package let deletePolicy: DeletePolicy
        package let columns: [(name: String, key: ColumnKey)]
        package let naturalKey: [String]
        package let references: [Reference]
        /// Columns that name attachments.
        package var attachments: [String] = []
        /// Columns that do not synchronise, but for generated ones and foreign keys.
        package var localColumns: [String] = []
        /// The column of the order by hand.
        package var position: String?
        /// For how many days its journal is kept; `nil` without one.
        package var journalDays: Int?

        package init(
            name: String, key: String, form: KeyForm, deletePolicy: DeletePolicy, columns: [(name: String, key: ColumnKey)],
            naturalKey: [String],
            references: [Reference], attachments: [String] = []
        ) {
            self.name = name
            self.key = key
            self.form = form
            self.deletePolicy = deletePolicy
            self.columns = columns
            self.naturalKey = naturalKey
            self.references = references
            self.attachments = attachments
        }
    }

    package var tables: [Table] = []

    package init(tables: [Table] = []) {
        self.tables = tables
    }
    /// Whether a tracked table refers to another.
    package var hasForeignKeys: Bool { tables.contains { !$0.references.isEmpty } }

    /// Whether one of these tables refers to another, or is referred to.
    package func areRelated(_ schemas: [TableSchema]) -> Bool {
        hasForeignKeys
            && tables.contains { table in
                (!table.references.isEmpty || tables.contains { $0.references.contains { $0.parent == table.name } })
                    && schemas.contains { $0.name.elementsEqual(table.name.utf8) }
            }
    }

    /// What the journal needs; `nil` if no table has one.
    package func journal(_ catalog: Catalog) -> JournalNotes? {
        var days: [Int: Int] = [:]
        for declared in tables {
            if let kept = declared.journalDays, let table = catalog.table(named: Array(declared.name.utf8)) { days[table.number] = kept }
        }
        return days.isEmpty ? nil : JournalNotes(daysKept: days)
    }

    /// Marks in `catalog` which tables and columns the app's schema has.
    package func annotate(_ catalog: inout Catalog) {
        for declared in tables {
            guard let index = catalog.tables.firstIndex(where: { $0.name == Array(declared.name.utf8) }) else { continue }
            var numbers: [Int] = []
            for (name, key) in declared.columns {
                guard let column = catalog.tables[index].columns.firstIndex(where: { $0.key == key }) else { continue }
                catalog.tables[index].columns[column].sqlName = name
                numbers.append(column)
            }
            catalog.tables[index].tracked = CatalogTable.Tracked(
                sqlName: declared.name, key: declared.key, form: declared.form, deletePolicy: declared.deletePolicy, columns: numbers,
                kinds: numbers.map { catalog.tables[index].columns[$0].key.kind },
                names: numbers.map { quoted(catalog.tables[index].columns[$0].sqlName ?? "") },
                localColumns: declared.localColumns, naturalKey: declared.key(of: catalog.tables[index], numbers))
        }
        catalog.connect(tables)
    }
}

extension Declarations.Table {
    /// Where the columns of the natural key stand among the tracked ones, whose `numbers` are given.
    fileprivate func key(of table: CatalogTable, _ numbers: [Int]) -> NaturalKey? {
        if naturalKey.isEmpty { return nil }
        let positions = naturalKey.compactMap { column in
            numbers.firstIndex { table.columns[$0].sqlName == column && table.columns[$0].key.kind == .register }
        }
        return NaturalKey(table: name, names: naturalKey, positions: positions)
    }
}
