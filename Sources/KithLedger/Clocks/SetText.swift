import GRDBSQLite
import KithSQLite
import KithSync

/// The JSON array that a set column shows, and its elements.
package enum SetText {
    /// The array that shows `elements`.
    package static func text(of elements: [[UInt8]]) -> [UInt8] {
        var text: [UInt8] = [UInt8(ascii: "[")]
        for (index, element) in elements.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text += element
        }
        text.append(UInt8(ascii: "]"))
        return text
    }

    /// Whether `json` is a string that needs no escapes, which nearly every element is.
    package static func isPlainString(_ json: [UInt8]) -> Bool {
        json.withUnsafeBufferPointer { bytes in
            let quote = UInt8(ascii: "\"")
            guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return false }
            for index in 1..<(bytes.count - 1) {
                if bytes[index] < 0x20 || bytes[index] == quote || bytes[index] == UInt8(ascii: "\\") { return false }
            }
            return true
        }
    }

    /// The elements of the array in `value`, each as compact JSON; NULL is the empty set.
    package static func elements(of value: ColumnValue, _ connection: DatabaseConnection) throws -> [[UInt8]] {
        let text: [UInt8]
        switch value {
        case .null: return []
        case .text(let bytes): text = bytes
        default: throw StoreError(.valueRejected, "A set column holds a JSON array, as text.")
        }
        if let simple = plainStrings(text) { return simple }
        // SQLite's own JSON functions, so that an element has one spelling whatever wrote it.
        let each = try connection.statement(
            """
            SELECT CASE type WHEN 'object' THEN value WHEN 'array' THEN value WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
                WHEN 'null' THEN 'null' WHEN 'real' THEN printf('%!.15g', value) ELSE json_quote(value) END,
                typeof(value) = 'real' AND type IN ('integer', 'real')
            FROM json_each(?)
            """)
        each.bind(1, .text(text))
        var elements: [[UInt8]] = []
        // Those that SQLite has made a REAL of.
        var reals: [Int] = []
        while try each.step() {
            if each.int(1) != 0 { reals.append(elements.count) }
            elements.append(each.blob(0))
        }
        let mayBeKept = escapesToKeep.contains { text.contains($0) }
        if !reals.isEmpty || mayBeKept {
            let written = try elementsAsWritten(text, connection)
            if written.count == elements.count {
                for index in reals { elements[index] = number(elements[index], writtenAs: written[index]) }
                if mayBeKept {
                    for index in elements.indices where isKeptAsWritten(written[index]) { elements[index] = written[index] }
                }
            }
        }
        return elements
    }

    /// How escapes begin that may stand for what no text of SQLite's can hold.
    private static let escapesToKeep = ["\\u0000", "\\ud", "\\uD"].map { Array($0.utf8) }

    /// Whether `json` is a string with the character U+0000, at which SQLite's values end, or with a half of a surrogate pair, which in
    /// UTF-8 is none: it stays as it is written.
    private static func isKeptAsWritten(_ json: [UInt8]) -> Bool {
        guard json.first == UInt8(ascii: "\"") else { return false }
        /// What the escape `\uXXXX` at `index` stands for.
        func escape(at index: Int) -> UTF16.CodeUnit? {
            guard json.count - index >= 6, json[index] == UInt8(ascii: "\\"), json[index + 1] == UInt8(ascii: "u") else { return nil }
            return UInt16(String(decoding: json[index + 2..<index + 6], as: UTF8.self), radix: 16)
        }
        var index = 1
        while index < json.count {
            guard json[index] == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            guard let unit = escape(at: index) else {
                index += 2
                continue
            }
            if unit == 0 || UTF16.isTrailSurrogate(unit) { return true }
            if UTF16.isLeadSurrogate(unit) {
                index += 6
                guard let second = escape(at: index), UTF16.isTrailSurrogate(second) else { return true }
            }
            index += 6
        }
        return false
    }

    /// The one spelling of a number: 15 digits if these are the number; the shortest that is it otherwise. An integer that no REAL is, and
    /// what is beyond all REALs, stays as it is written.
    private static func number(_ short: [UInt8], writtenAs text: [UInt8]) -> [UInt8] {
        let isInteger = text.allSatisfy { $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !isInteger, let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else { return text }
        return Double(String(decoding: short, as: UTF8.self)) == value ? short : Array(value.description.utf8)
    }

    /// The elements of an array as they are written, but for spaces around what they are made of.
    private static func elementsAsWritten(_ text: [UInt8], _ connection: DatabaseConnection) throws -> [[UInt8]] {
        let compact = try connection.statement("SELECT json(?)")
        compact.bind(1, .text(text))
        defer { compact.reset() }
        guard try compact.step() else { return [] }
        var elements: [[UInt8]] = [[]]
        var depth = 0
        var isString = false
        var isEscaped = false
        for byte in compact.blob(0).dropFirst().dropLast() {
            if isString {
                if byte == UInt8(ascii: "\""), !isEscaped { isString = false }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            } else {
                switch byte {
                case UInt8(ascii: "\""): isString = true
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                case UInt8(ascii: ",") where depth == 0:
                    elements.append([])
                    continue
                default: break
                }
            }
            elements[elements.count - 1].append(byte)
        }
        return elements
    }

    /// How a value shows a set.
    package enum Form {
        /// In the one form that all machines show.
        case tidy
        /// Perhaps in another one.
        case loose
        /// Not at all.
        case none
    }

    /// How `value` shows a set: a JSON array, as text; NULL is the empty set.
    package static func form(of value: OpaquePointer?, _ connection: DatabaseConnection) -> Form {
        if sqlite3_value_type(value) == SQLITE_NULL { return .loose }
        guard sqlite3_value_type(value) == SQLITE_TEXT, let text = sqlite3_value_text(value) else { return .none }
        let plain = formOfPlainStrings(UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))))
        if plain != .none { return plain }
        guard let check = try? connection.statement("SELECT json_valid(?1) AND json_type(?1) = 'array'") else { return .none }
        check.bind(1, ColumnValue(value))
        defer { check.reset() }
        return (try? check.step()) == true && check.int(0) == 1 ? .loose : .none
    }

    /// Whether `value` is surely in the one form that all machines show.
    package static func isTidy(_ value: ColumnValue) -> Bool {
        guard case .text(let text) = value else { return false }
        return text.withUnsafeBufferPointer(formOfPlainStrings) == .tidy
    }

    /// The same set in the one form that all machines show.
    package static func tidy(_ value: ColumnValue, _ connection: DatabaseConnection) throws -> ColumnValue {
        .text(text(of: SetState.distinct(try elements(of: value, connection))))
    }

    /// How many elements the array in `value` has. SQLite's own function may not be called from triggers where the app distrusts them.
    package static func count(of value: ColumnValue, _ connection: DatabaseConnection) -> Int64 {
        guard let count = try? connection.statement("SELECT json_array_length(?)") else { return 0 }
        count.bind(1, value)
        defer { count.reset() }
        return (try? count.step()) == true ? count.integer(0) : 0
    }

    /// The form of an array of strings without escapes and spaces, as most are; `none` for any other text.
    private static func formOfPlainStrings(_ text: UnsafeBufferPointer<UInt8>) -> Form {
        var last = 0..<0
        var form = Form.tidy
        let isPlain = scanPlainStrings(text) { element in
            if !last.isEmpty, let text = text.baseAddress, order(text, last, element) >= 0 { form = .loose }
            last = element
        }
        return isPlain ? form : .none
    }

    /// Negative if the first element stands before the second one by their bytes, 0 if they are equal.
    @inline(__always)
    package static func order(_ text: UnsafePointer<UInt8>, _ first: Range<Int>, _ second: Range<Int>) -> Int {
        let (one, other) = (text + first.lowerBound, text + second.lowerBound)
        for index in 0..<min(first.count, second.count) where one[index] != other[index] {
            return Int(one[index]) - Int(other[index])
        }
        return first.count - second.count
    }

    /// Tells where each element of an array of strings without escapes and spaces stands. Returns whether `text` is one.
    @inline(__always)
    package static func scanPlainStrings(_ text: UnsafeBufferPointer<UInt8>, _ found: (Range<Int>) -> Void) -> Bool {
        guard let bytes = text.baseAddress, text.count >= 2, bytes[0] == UInt8(ascii: "["), bytes[text.count - 1] == UInt8(ascii: "]")
        else { return false }
        let end = text.count - 1
        var index = 1
        while index < end {
            guard bytes[index] == UInt8(ascii: "\"") else { return false }
            let start = index
            index &+= 1
            while index < end {
                let byte = bytes[index]
                if byte == UInt8(ascii: "\"") || byte < 0x20 || byte == UInt8(ascii: "\\") { break }
                index &+= 1
            }
            guard index < end, bytes[index] == UInt8(ascii: "\"") else { return false }
            index &+= 1
            found(start..<index)
            if index == end { return true }
            guard bytes[index] == UInt8(ascii: ","), index + 1 < end else { return false }
            index &+= 1
        }
        return true
    }

    /// The elements of an array of strings that need no escapes, which is nearly every set; `nil` for any other text.
    private static func plainStrings(_ text: [UInt8]) -> [[UInt8]]? {
        guard text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]") else { return nil }
        var elements: [[UInt8]] = []
        var index = 1
        let end = text.count - 1
        while index < end {
            while index < end, text[index] == UInt8(ascii: " ") { index += 1 }
            if index == end { return elements.isEmpty ? [] : nil }
            guard text[index] == UInt8(ascii: "\"") else { return nil }
            var close = index + 1
            while close < end, text[close] != UInt8(ascii: "\"") {
                if text[close] == UInt8(ascii: "\\") || text[close] < 0x20 { return nil }
                close += 1
            }
            if close == end { return nil }
            elements.append(Array(text[index...close]))
            index = close + 1
            while index < end, text[index] == UInt8(ascii: " ") { index += 1 }
            if index < end {
                guard text[index] == UInt8(ascii: ","), index + 1 < end else { return nil }
                index += 1
            }
        }
        return elements
    }
}
