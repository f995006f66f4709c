import KithSQLite

/// A part of SQL, as far as it has to be told here what a schema names: SQLite tells much of it in no other way.
package enum SQLToken: Equatable {
    /// A word, in lower case, or a quoted name.
    case name(String)
    case open, close, other

    /// A token, and which bytes of the text it is.
    package struct Located {
        package let token: SQLToken
        package let range: Range<Int>
        /// Whether it is a word without quotation marks.
        package let isWord: Bool
    }

    static func tokens(of text: String) -> [SQLToken] {
        located(in: Array(text.utf8)).map(\.token)
    }

    package static func located(in sql: [UInt8]) -> [Located] {
        var tokens: [Located] = []
        var index = 0
        var start = 0
        func add(_ token: SQLToken, isWord: Bool = false) {
            tokens.append(Located(token: token, range: start..<min(index, sql.count), isWord: isWord))
        }
        /// The text up to the next `end`, which stands for itself where it is doubled.
        func quoted(_ end: UInt8) -> String {
            var text: [UInt8] = []
            index += 1
            while index < sql.count {
                if sql[index] == end {
                    guard index + 1 < sql.count, sql[index + 1] == end, end != UInt8(ascii: "]") else { break }
                    index += 1
                }
                text.append(sql[index])
                index += 1
            }
            index += 1
            return String(decoding: text, as: UTF8.self)
        }
        func skip(to end: String) {
            while index < sql.count, !sql[index...].starts(with: end.utf8) { index += 1 }
            index += end.utf8.count
        }
        while index < sql.count {
            start = index
            switch sql[index] {
            case UInt8(ascii: "'"):
                _ = quoted(UInt8(ascii: "'"))
                add(.other)
            case UInt8(ascii: "\""), UInt8(ascii: "`"):
                let name = quoted(sql[index])
                add(.name(name))
            case UInt8(ascii: "["):
                let name = quoted(UInt8(ascii: "]"))
                add(.name(name))
            case UInt8(ascii: "-") where sql[index...].starts(with: "--".utf8): skip(to: "\n")
            case UInt8(ascii: "/") where sql[index...].starts(with: "/*".utf8): skip(to: "*/")
            case let byte where isWord(byte):
                while index < sql.count, isWord(sql[index]) { index += 1 }
                add(.name(String(decoding: sql[start..<index], as: UTF8.self).asciiLowercased), isWord: true)
            case let byte:
                index += 1
                if byte == UInt8(ascii: "(") {
                    add(.open)
                } else if byte == UInt8(ascii: ")") {
                    add(.close)
                } else if !UnicodeScalar(byte).properties.isWhitespace {
                    add(.other)
                }
            }
        }
        return tokens
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xff:
            true
        default: false
        }
    }
}
