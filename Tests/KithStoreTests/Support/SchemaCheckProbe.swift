@testable import KithStore

/// One change of a column of a `CREATE TABLE`.
enum SchemaCheckProbe {
    static func rewritten(_ sql: String, _ column: String, _ edit: String) throws -> String? {
        guard var definition = TableDefinition(sql: sql) else { return nil }
        let edit: TableEdit =
            switch edit {
            case "default": .setDefault(column, "''")
            case "setDefault": .setDefault(column, "'x'")
            case "unique": .dropUnique([column])
            case "check": .dropCheck(column)
            default: .setType(column, "TEXT")
            }
        edit.apply(to: &definition)
        return definition.column(column)?.text
    }
}
