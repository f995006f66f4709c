import KithSQLite

/// The names in the CHECK constraints of a `CREATE TABLE`, which SQLite tells in no other way.
package struct CheckConstraints {
    /// In lower case, of columns and of functions.
    package private(set) var names: Set<String> = []

    package init(sql: String) {
        var depth = 0
        var isCheck = false
        for token in SQLToken.tokens(of: sql) {
            switch token {
            case .open: if depth > 0 || isCheck { depth += 1 }
            case .close: if depth > 0 { depth -= 1 }
            case .name(let name): if depth > 0 { names.insert(name.asciiLowercased) }
            case .other: break
            }
            isCheck = depth == 0 && token == .name("check")
        }
    }
}
