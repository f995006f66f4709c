/// The tables and columns that a script may name: a statement on others would do nothing, and prove nothing.
struct ScriptVocabulary {
    let tables: [WorkloadTable]

    /// What is wrong with the first step of a script that does not fit; `nil` if all do.
    func fault(in script: Script) -> String? {
        // Nodes that there are, and numbers within limits: what can be read back.
        do throws(ScriptError) {
            _ = try Script(parsing: script.description)
        } catch {
            return error.description
        }
        for step in script.steps {
            let operations: [UserOperation]
            switch step {
            case .commit(_, let statements): operations = statements
            case .found(_, let row): operations = [.write(row)]
            default: continue
            }
            if let fault = fault(in: operations) { return "\(step): \(fault)" }
        }
        return nil
    }

    /// What is wrong with the first of these statements that does not fit; `nil` if all do.
    func fault(in operations: [UserOperation]) -> String? {
        if let undo = operations.firstIndex(of: .undo), !operations[..<undo].contains(.savepoint) { return "undo without a savepoint." }
        return operations.lazy.compactMap(fault).first
    }

    private func fault(in operation: UserOperation) -> String? {
        switch operation {
        case .savepoint, .undo, .rollback: nil
        case .write(let write): fault(in: write)
        case .pair(let pair):
            fault(in: pair.column, of: pair.table, verb: pair.verb.rawValue, kinds: pair.verb == .move ? [.counter] : [.register])
        }
    }

    private func fault(in write: RowWrite) -> String? {
        guard let table = table(write.table) else { return noTable(write.table) }
        let kinds = write.verb.kinds
        if write.assignments.isEmpty { return nil }
        if kinds.isEmpty { return "\(write.verb.rawValue) takes no columns." }
        for assignment in write.assignments {
            if let fault = fault(in: assignment.column, of: table, verb: write.verb.rawValue, kinds: kinds) { return fault }
            if let fault = fault(in: assignment, of: table) { return fault }
        }
        return nil
    }

    private func fault(in column: String, of name: String, verb: String, kinds: [ColumnKind]) -> String? {
        guard let table = table(name) else { return noTable(name) }
        return fault(in: column, of: table, verb: verb, kinds: kinds)
    }

    private func fault(in name: String, of table: WorkloadTable, verb: String, kinds: [ColumnKind]) -> String? {
        if name == table.key || table.keyColumns.contains(where: { $0.name == name }) {
            return "\(name) is the key of \(table.name), which follows from the row's number."
        }
        guard let index = table.column(named: name) else {
            let names = table.columns.map { scriptName($0.name) }.joined(separator: ", ")
            return "\(table.name) has no column \(scriptName(name)) that synchronises; those that do: \(names)."
        }
        let kind = table.columns[index].kind
        return kinds.contains(kind) ? nil : "\(name) of \(table.name) is a \(kind), which is not for \(verb)."
    }

    /// A value that SQLite would store as another one.
    private func fault(in assignment: Assignment, of table: WorkloadTable) -> String? {
        guard let index = table.column(named: assignment.column), table.columns[index].kind == .register else { return nil }
        let affinity = table.columns[index].affinity
        if affinity.keeps(assignment.value.value) { return nil }
        return "\(assignment.column) of \(table.name) is \(affinity.typeName), in which SQLite stores another value than "
            + "\(assignment.value). Write it as it is stored."
    }

    private func noTable(_ name: String) -> String {
        "there is no table \(scriptName(name)) that synchronises; those that do: \(tables.map { scriptName($0.name) }.joined(separator: ", "))."
    }

    private func table(_ name: String) -> WorkloadTable? {
        tables.first { $0.name.utf8.elementsEqual(name.utf8) }
    }
}

extension RowWrite.Verb {
    /// The kinds of columns that it is for.
    fileprivate var kinds: [ColumnKind] {
        switch self {
        case .insert, .update, .upsert, .replace, .rewrite: [.register, .set, .counter, .text]
        case .resolve: [.register]
        case .add, .remove: [.set]
        case .count: [.counter]
        case .type, .erase, .open, .save: [.text]
        case .delete: []
        }
    }
}
