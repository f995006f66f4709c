import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Finds out in which form a table writes its ids.
struct KeyFormInspector {
    let connection: DatabaseConnection

    /// - Parameters:
    ///   - key: the key column.
    ///   - suggested: the form that its declared type suggests; `nil` if such a column is for something else.
    ///   - declared: its type, in words.
    func form(
        of table: TrackedTable, key: String, suggested: KeyForm?, declared: String, _ report: SchemaProblems
    ) throws -> KeyForm {
        let known = try known(table.name)
        if try known != nil && isTracked(table.name), let known, table.ids ?? known == known { return known }
        let count = try count(table.name, quoted(key))
        guard let form = table.ids ?? count.mostFrequent ?? known ?? suggested else {
            report(
                "its primary key \(key) is declared \(declared). A tracked row is named by a UUID, which two devices never draw alike: "
                    + "\(key) BLOB PRIMARY KEY NOT NULL, or TEXT. KeyMigration gives rows and what refers to them such ids.",
                .key,
                column: key, sql: "\(quoted(key)) BLOB PRIMARY KEY NOT NULL DEFAULT (kith_uuid())")
            return .blob
        }
        if count.all > count.of(form) {
            // What names a row in words may well be its natural key.
            let isName = count.example?.hasPrefix("'") == true && table.key == nil
            report(
                misfits(count, form, table, key), .key, column: key, sql: count.example == nil ? mend(form, table, key) : nil,
                declaration: isName ? TableInspector.declaration(table.name, key: [key]) : nil)
        }
        return form
    }

    /// The form that was found out before, by this opening or an earlier one.
    func known(_ table: String) throws -> KeyForm? {
        let exists = try connection.statement("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
        exists.bind(1, .text(MetaRecords.table))
        let isStore = try exists.step()
        exists.reset()
        return isStore ? try KeyFormRecords(connection).form(of: table) : nil
    }

    /// Whether Kith's triggers let in nothing but ids of the form that is known.
    func isTracked(_ table: String) throws -> Bool {
        let select = try connection.statement(
            "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE AND name GLOB 'kith_[0-9]*_insert'")
        select.bind(1, .text(table))
        defer { select.reset() }
        return try select.step()
    }

    // MARK: Rows

    private struct Count {
        var all = 0
        var blobs = 0
        var lowerCase = 0
        var upperCase = 0
        /// A few of the others.
        var example: String?

        func of(_ form: KeyForm) -> Int {
            switch form {
            case .blob: blobs
            case .text: lowerCase
            case .upperCaseText: upperCase
            }
        }

        /// `nil` if no row has an id.
        var mostFrequent: KeyForm? {
            let form = KeyForm.allCases.max { of($0) < of($1) } ?? .blob
            guard of(form) > 0 else { return nil }
            // An id without letters is in both cases.
            return form == .upperCaseText && lowerCase == upperCase ? .text : form
        }
    }

    private func count(_ table: String, _ key: String) throws -> Count {
        let sums = KeyForm.allCases.map { "coalesce(sum(\($0.isKeySQL(key))), 0)" }.joined(separator: ", ")
        let isNone = KeyForm.allCases.map { $0.isKeySQL(key) }.joined(separator: " OR ")
        let select = try connection.statement(
            "SELECT count(*), \(sums), max(CASE WHEN NOT (\(isNone)) THEN quote(\(key)) END) FROM \(quoted(table))")
        defer { select.reset() }
        guard try select.step() else { return Count() }
        return Count(
            all: select.int(0), blobs: select.int(1), lowerCase: select.int(2), upperCase: select.int(3),
            example: select.isNull(4) ? nil : String(decoding: select.blob(4).prefix(80), as: UTF8.self))
    }

    /// Brings ids of other forms to one.
    private func mend(_ form: KeyForm, _ table: TrackedTable, _ key: String) -> String? {
        switch form {
        case .text: "UPDATE \(quoted(table.name)) SET \(quoted(key)) = lower(\(quoted(key))) WHERE typeof(\(quoted(key))) = 'text'"
        case .upperCaseText: "UPDATE \(quoted(table.name)) SET \(quoted(key)) = upper(\(quoted(key))) WHERE typeof(\(quoted(key))) = 'text'"
        case .blob: nil
        }
    }

    private func misfits(_ count: Count, _ form: KeyForm, _ table: TrackedTable, _ key: String) -> String {
        let rows = "\(count.all - count.of(form)) of its \(count.all) rows have an id that is not \(form.words)"
        if let example = count.example {
            return rows + ", such as \(example). Give them one, and what refers to them: KeyMigration does."
        }
        let others = KeyForm.allCases.filter { $0 != form && count.of($0) > 0 }.map(\.words).joined(separator: " and ")
        return rows + ", but \(others). One form holds for a whole table: bring them to it, and the columns that refer to them."
    }
}
