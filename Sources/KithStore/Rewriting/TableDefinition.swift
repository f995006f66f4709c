import KithLedger
import KithSQLite

/// A `CREATE TABLE`, taken apart as far as it is rewritten here: columns and constraints, each with the text that the app wrote.
struct TableDefinition {
    /// A column, or a constraint of the table.
    struct Part {
        /// Of the column; `nil` for a constraint of the table.
        let name: String?
        fileprivate(set) var text: String

        fileprivate var bytes: [UInt8] { Array(text.utf8) }
        fileprivate var tokens: [SQLToken.Located] { SQLToken.located(in: bytes) }
    }

    private(set) var parts: [Part] = []
    /// What follows the closing parenthesis.
    private(set) var options: String

    /// - Parameter sql: as `sqlite_master` has it; `nil` for one that was made from a query or cannot be read.
    init?(sql: String) {
        let bytes = Array(sql.utf8)
        let tokens = SQLToken.located(in: bytes)
        guard let open = tokens.firstIndex(where: { $0.token == .open }) else { return nil }
        var depth = 0
        var start = open + 1
        var end: Int?
        func part(_ range: Range<Int>) -> Part? {
            guard let first = range.first, let last = range.last else { return nil }
            let text = String(decoding: bytes[tokens[first].range.lowerBound..<tokens[last].range.upperBound], as: UTF8.self)
            guard case .name(let word) = tokens[first].token else { return nil }
            let isConstraint = tokens[first].isWord && Self.constraintWords.contains(word)
            return Part(name: isConstraint ? nil : Self.name(tokens[first], bytes), text: text)
        }
        for index in open..<tokens.count {
            switch tokens[index].token {
            case .open: depth += 1
            case .close: depth -= 1
            default: break
            }
            let isComma = depth == 1 && bytes[tokens[index].range] == [UInt8(ascii: ",")][...]
            if isComma || depth == 0 {
                guard let part = part(start..<index) else { return nil }
                parts.append(part)
                start = index + 1
            }
            if depth == 0 {
                end = tokens[index].range.upperBound
                break
            }
        }
        guard let end else { return nil }
        options = String(decoding: bytes[end...], as: UTF8.self)
    }

    private static let constraintWords: Set<String> = ["constraint", "primary", "unique", "check", "foreign"]
    private static let columnWords: Set<String> = [
        "constraint", "primary", "not", "null", "unique", "check", "default", "collate", "references", "generated", "as",
    ]

    /// As it was written, in capitals or not.
    private static func name(_ token: SQLToken.Located, _ bytes: [UInt8]) -> String? {
        if token.isWord { return String(decoding: bytes[token.range], as: UTF8.self) }
        if case .name(let name) = token.token { return name }
        return nil
    }

    /// The statement that makes such a table of this name.
    func sql(naming name: String) -> String {
        "CREATE TABLE \(quoted(name)) (\n    \(parts.map(\.text).joined(separator: ",\n    "))\n)\(options)"
    }

    func column(_ name: String) -> Part? { parts.first { Self.isSame($0.name, name) } }

    private static func isSame(_ one: String?, _ other: String) -> Bool { one?.asciiLowercased == other.asciiLowercased }

    // MARK: Rewriting

    mutating func change(_ column: String, _ body: (inout Part) -> Void) {
        for index in parts.indices where Self.isSame(parts[index].name, column) { body(&parts[index]) }
    }

    mutating func insertColumn(_ text: String, named name: String) {
        parts.insert(Part(name: name, text: text), at: 0)
    }

    mutating func addConstraint(_ text: String) {
        parts.append(Part(name: nil, text: text))
    }

    /// Removes `PRIMARY KEY (…)`, or `UNIQUE (…)` of exactly these columns.
    mutating func removeConstraint(_ words: [String], of columns: [String]) {
        parts.removeAll { part in
            guard part.name == nil else { return false }
            var names = part.tokens.compactMap { if case .name(let name) = $0.token { name.asciiLowercased } else { nil } }
            if names.first == "constraint" { names.removeFirst(2) }
            guard names.starts(with: words) else { return false }
            let listed = Set(names.dropFirst(words.count)).subtracting([
                "collate", "nocase", "binary", "rtrim", "asc", "desc", "autoincrement",
            ])
            return listed == Set(columns.map { $0.asciiLowercased })
        }
    }

    /// Removes the constraints of the table that look at a column by `CHECK`.
    mutating func removeChecks(on column: String) {
        parts.removeAll { $0.name == nil && CheckConstraints(sql: $0.text).names.contains(column.asciiLowercased) }
        for index in parts.indices where CheckConstraints(sql: parts[index].text).names.contains(column.asciiLowercased) {
            parts[index].removeCheck()
        }
    }

    /// Lets a foreign key of one column name another column of its parent.
    mutating func redirect(references column: String, to parent: String, _ key: String) {
        for index in parts.indices {
            let (bytes, tokens) = (parts[index].bytes, parts[index].tokens)
            if let name = parts[index].name {
                guard Self.isSame(name, column) else { continue }
            } else {
                // FOREIGN KEY (column) REFERENCES …
                let names = tokens.compactMap { if case .name(let name) = $0.token { name.asciiLowercased } else { nil } }
                guard let foreign = names.firstIndex(of: "foreign"), names.dropFirst(foreign + 2).first == column.asciiLowercased else {
                    continue
                }
            }
            guard let place = tokens.firstIndex(where: { $0.isWord && $0.token == .name("references") }), place + 2 < tokens.count,
                case .name(let named) = tokens[place + 1].token, named.asciiLowercased == parent.asciiLowercased,
                tokens[place + 2].token == .open
            else { continue }
            var changed = bytes
            changed.replaceSubrange(tokens[place + 3].range, with: quoted(key).utf8)
            parts[index].text = String(decoding: changed, as: UTF8.self)
        }
    }

    mutating func removeOption(_ words: String) {
        let pattern = words.split(separator: " ").map { $0.asciiLowercased }
        let bytes = Array(options.utf8)
        let tokens = SQLToken.located(in: bytes)
        guard
            let first = tokens.indices.first(where: { start in
                tokens[start...].prefix(pattern.count).map(\.token) == pattern.map { .name($0) }
            })
        else { return }
        let end = tokens[first + pattern.count - 1].range.upperBound
        var rest = Array(bytes[..<tokens[first].range.lowerBound]) + Array(bytes[end...])
        // A comma that stood between two options.
        let left = SQLToken.located(in: rest)
        if left.count == 2, let comma = left.first(where: { rest[$0.range] == [UInt8(ascii: ",")][...] }) {
            rest.removeSubrange(comma.range)
        }
        options = String(decoding: rest, as: UTF8.self)
    }
}

extension TableDefinition.Part {
    /// Where the type stands: after the name, up to the first constraint.
    private var typeRange: Range<Int> {
        let tokens = tokens
        let start = tokens[0].range.upperBound
        var end = start
        for token in tokens.dropFirst() {
            if token.isWord, case .name(let word) = token.token, TableDefinition.isColumnWord(word) { break }
            end = token.range.upperBound
        }
        return start..<end
    }

    mutating func setType(_ type: String) {
        replace(typeRange, with: " " + type)
    }

    mutating func append(_ words: String) {
        text += " " + words
    }

    /// Removes a constraint of the column: `words`, what may follow them, and `ON CONFLICT …`.
    mutating func remove(_ words: [String], andMaybe others: Set<String> = []) {
        let tokens = tokens
        guard
            let first = tokens.indices.dropFirst().first(where: { start in
                tokens[start].isWord && depth(before: start, tokens) == 0
                    && tokens[start...].prefix(words.count).map(\.token) == words.map { .name($0) }
            })
        else { return }
        var last = first + words.count - 1
        while last + 1 < tokens.count, case .name(let word) = tokens[last + 1].token, tokens[last + 1].isWord {
            if others.contains(word) {
                last += 1
            } else if word == "on", last + 3 < tokens.count, tokens[last + 2].token == .name("conflict") {
                last += 3
            } else {
                break
            }
        }
        var start = first
        // CONSTRAINT name
        if start >= 3, tokens[start - 2].isWord, tokens[start - 2].token == .name("constraint") { start -= 2 }
        replace(tokens[start - 1].range.upperBound..<tokens[last].range.upperBound, with: "")
    }

    mutating func removeCheck() {
        let tokens = tokens
        guard let first = tokens.indices.dropFirst().first(where: { tokens[$0].isWord && tokens[$0].token == .name("check") }) else {
            return
        }
        guard let end = closing(after: first, tokens) else { return }
        replace(tokens[first - 1].range.upperBound..<tokens[end].range.upperBound, with: "")
    }

    /// The default, and what stands in its place.
    mutating func setDefault(_ expression: String) {
        let tokens = tokens
        if let first = tokens.indices.dropFirst().first(where: {
            tokens[$0].isWord && tokens[$0].token == .name("default") && depth(before: $0, tokens) == 0
        }),
            first + 1 < tokens.count
        {
            var last = first + 1
            if tokens[last].token == .open { last = closing(after: first, tokens) ?? last }
            // A sign before a number.
            if tokens[last].token == .other, tokens[last].range.count == 1, last + 1 < tokens.count { last += 1 }
            replace(tokens[first].range.upperBound..<tokens[last].range.upperBound, with: " " + expression)
        } else {
            append("DEFAULT " + expression)
        }
    }

    private func depth(before index: Int, _ tokens: [SQLToken.Located]) -> Int {
        tokens[..<index].reduce(0) { depth, token in
            switch token.token {
            case .open: depth + 1
            case .close: depth - 1
            default: depth
            }
        }
    }

    private func closing(after first: Int, _ tokens: [SQLToken.Located]) -> Int? {
        var depth = 0
        for index in tokens.indices where index > first {
            if tokens[index].token == .open { depth += 1 }
            if tokens[index].token == .close {
                depth -= 1
                if depth == 0 { return index }
            }
        }
        return nil
    }

    private mutating func replace(_ range: Range<Int>, with words: String) {
        var bytes = Array(text.utf8)
        bytes.replaceSubrange(range, with: words.utf8)
        text = String(decoding: bytes, as: UTF8.self)
    }
}

extension TableDefinition {
    fileprivate static func isColumnWord(_ word: String) -> Bool { columnWords.contains(word) }
}
