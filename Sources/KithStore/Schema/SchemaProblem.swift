import KithLedger
import KithSync

/// What keeps a table from synchronising, and what to write instead.
public struct SchemaProblem: Hashable, Sendable, Codable {
    /// What is wrong; stable, for programs.
    public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
        /// There is no such table, or it cannot be tracked as what it is: a view, a virtual table, one with a name that is Kith's own.
        case table
        /// The declaration names what the table does not have, or contradicts itself.
        case declaration
        /// Rows are not named by UUIDs, or not all in one form.
        case key
        /// A column is `NOT NULL` without a default.
        case missingDefault
        /// Columns are `UNIQUE` and no natural key.
        case unique
        /// A column cannot hold what a column of its kind does.
        case columnType
        /// A `CHECK` looks at a counter.
        case check
        /// A foreign key cannot hold after every merge.
        case reference
        /// There are more columns than can be tracked, or none.
        case columnCount
        /// Rows hold what a column of its kind does not.
        case values
    }

    /// The table's name.
    public let table: String
    /// The column, if it is about one.
    public let column: String?
    /// What is wrong.
    public let code: Code
    /// What is wrong, what that would mean, and what to do.
    public let message: String
    /// The SQL that mends it, or, where the table has to be built anew, what its `CREATE TABLE` says instead;
    /// ``SchemaCheck/script`` does that.
    public let sql: String?
    /// The declaration in Swift that mends it.
    public let declaration: String?
    /// What the table's `CREATE TABLE` is changed in.
    let edit: TableEdit?

    private enum CodingKeys: String, CodingKey {
        case table, column, code, message, sql, declaration
    }

    init(
        table: String, column: String? = nil, _ code: Code, _ message: String, sql: String? = nil, declaration: String? = nil,
        edit: TableEdit? = nil
    ) {
        (self.table, self.column, self.code, self.message) = (table, column, code, message)
        (self.sql, self.declaration, self.edit) = (sql, declaration, edit)
    }

    /// Reads what was encoded.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            table: try values.decode(String.self, forKey: .table), column: try values.decodeIfPresent(String.self, forKey: .column),
            try values.decode(Code.self, forKey: .code), try values.decode(String.self, forKey: .message),
            sql: try values.decodeIfPresent(String.self, forKey: .sql),
            declaration: try values.decodeIfPresent(String.self, forKey: .declaration))
    }
}

/// A change of a `CREATE TABLE`.
enum TableEdit: Hashable, Sendable {
    case setDefault(String, String)
    case dropNotNull(String)
    case dropUnique([String])
    case dropCheck(String)
    case setType(String, String)
    case dropWithoutRowid
    /// The index is made again without `UNIQUE`.
    case relaxIndex(String)

    /// The column that reads otherwise then.
    var column: String? {
        switch self {
        case .setDefault(let name, _), .dropNotNull(let name), .dropCheck(let name), .setType(let name, _): name
        case .dropUnique(let names): names.count == 1 ? names[0] : nil
        case .dropWithoutRowid, .relaxIndex: nil
        }
    }

    func apply(to definition: inout TableDefinition) {
        switch self {
        case .setDefault(let name, let value): definition.change(name) { $0.setDefault(value) }
        case .dropNotNull(let name): definition.change(name) { $0.remove(["not", "null"]) }
        case .dropCheck(let name): definition.removeChecks(on: name)
        case .setType(let name, let type): definition.change(name) { $0.setType(type) }
        case .dropWithoutRowid: definition.removeOption("without rowid")
        case .relaxIndex: break
        case .dropUnique(let names):
            definition.removeConstraint(["unique"], of: names)
            if names.count == 1 { definition.change(names[0]) { $0.remove(["unique"]) } }
        }
    }
}

/// What stands against one table.
final class SchemaProblems {
    let table: TrackedTable
    private(set) var all: [SchemaProblem] = []

    init(_ table: TrackedTable) {
        self.table = table
    }

    func callAsFunction(
        _ message: String, _ code: SchemaProblem.Code = .table, column: String? = nil, sql: String? = nil, declaration: String? = nil,
        edit: TableEdit? = nil
    ) {
        all.append(
            SchemaProblem(table: table.name, column: column, code, message, sql: sql, declaration: declaration, edit: edit))
    }
}
