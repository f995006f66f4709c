import KithCausality
import KithSQLite
import KithSync

/// How a tracked table writes the ids of its rows. Peers hear of the 16 bytes alone, so two devices may write them differently.
///
/// Found out when the store is opened: by the rows that are there, else by what the column declares. An app that writes another form
/// than its column suggests says so: ``TrackedTable/ids``.
public enum KeyForm: String, Hashable, Sendable, CaseIterable {
    /// A BLOB of 16 bytes, as GRDB stores a `UUID` by default.
    case blob
    /// TEXT of 36 characters in lower case, the canonical form of RFC 9562: `018f3c2e-4a6b-7c1d-9e2f-3a4b5c6d7e8f`.
    case text
    /// The same in upper case, as `UUID().uuidString` is in Swift.
    case upperCaseText
}

extension KeyForm {
    /// What a column holds that names the row.
    public func value(_ id: RowID) -> ColumnValue {
        switch self {
        case .blob: .blob(id.bytes)
        case .text, .upperCaseText: .text(id.text(isUpperCase: self == .upperCaseText))
        }
    }

    /// The row that a value names; `nil` for one that is not in this form.
    public func id(of value: ColumnValue) -> RowID? {
        switch (self, value) {
        case (.blob, .blob(let bytes)): RowID(bytes: bytes)
        case (.text, .text(let bytes)), (.upperCaseText, .text(let bytes)):
            bytes.withUnsafeBufferPointer { RowID(text: $0, isUpperCase: self == .upperCaseText) }
        default: nil
        }
    }

    /// The row that a value names, in whatever form.
    package static func anyID(of value: ColumnValue) -> RowID? {
        for form in allCases {
            if let id = form.id(of: value) { return id }
        }
        return nil
    }

    // MARK: SQL

    /// An expression for the 16 bytes of what `key` holds, or NULL if that is no id. Where it is not a BLOB, it needs ``functions``.
    package func idSQL(_ key: String) -> String {
        switch self {
        case .blob: key
        case .text: "\(Self.textFunction)(\(key))"
        case .upperCaseText: "\(Self.upperCaseFunction)(\(key))"
        }
    }

    /// An expression for the key of the row with the 16 bytes that `id` gives, on any connection.
    package func keySQL(_ id: String) -> String {
        if self == .blob { return id }
        let hex = "hex(\(id))"
        let parts = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)].map { "substr(\(hex), \($0), \($1))" }
        let text = parts.joined(separator: " || '-' || ")
        return self == .text ? "lower(\(text))" : "(\(text))"
    }

    /// Whether `key` is an id in this form, on any connection; never NULL.
    package func isKeySQL(_ key: String) -> String {
        switch self {
        case .blob: return "(typeof(\(key)) = 'blob' AND length(\(key)) = 16)"
        case .text, .upperCaseText:
            let digit = self == .text ? "[0-9a-f]" : "[0-9A-F]"
            let pattern = [8, 4, 4, 4, 12].map { String(repeating: digit, count: $0) }.joined(separator: "-")
            return "(typeof(\(key)) = 'text' AND \(key) GLOB '\(pattern)')"
        }
    }

    package func literal(_ id: RowID) -> String {
        switch self {
        case .blob: "x'\(id)'"
        case .text, .upperCaseText: "'\(String(decoding: id.text(isUpperCase: self == .upperCaseText), as: UTF8.self))'"
        }
    }

    /// Draws a new id.
    package var drawSQL: String {
        switch self {
        case .blob: "kith_uuid()"
        case .text: "kith_uuid_text()"
        case .upperCaseText: "upper(kith_uuid_text())"
        }
    }

    package static let textFunction = "kith_text_id"
    package static let upperCaseFunction = "kith_upper_text_id"
    /// Takes any form.
    package static let anyFunction = "kith_any_id"
    /// Functions of one argument that ``idSQL(_:)`` calls, registered on the connection that writes.
    package static var functions: [String] { [textFunction, upperCaseFunction, anyFunction] }

    /// What a key in this form is, in words.
    package var words: String {
        switch self {
        case .blob: "a BLOB of 16 bytes"
        case .text: "the 36 characters of a UUID as TEXT, in lower case"
        case .upperCaseText: "the 36 characters of a UUID as TEXT, in upper case"
        }
    }

    /// Why a value is no id of a row of this table, and what to do.
    package func refusal(of table: String) -> String {
        let remedy =
            switch self {
            case .blob: "A UUID that GRDB encodes is one by default"
            case .text: "In Swift: id.uuidString.lowercased(), or databaseUUIDEncodingStrategy = .lowercaseString in the record"
            case .upperCaseText: "In Swift: id.uuidString, or databaseUUIDEncodingStrategy = .uppercaseString in the record"
            }
        return "The id of a row of \(table) is \(words). \(remedy). A table that holds another form declares it while it has no rows: "
            + "TrackedTable(ids:)."
    }

    /// The case as it stands in Swift.
    package var code: String {
        switch self {
        case .blob: ".blob"
        case .text: ".text"
        case .upperCaseText: ".upperCaseText"
        }
    }
}

extension RowID {
    private static let textLength = 36

    /// 36 characters.
    package func text(isUpperCase: Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.textLength) { buffer, count in
            let letter = UInt8(ascii: isUpperCase ? "A" : "a") - 10
            for place in 0..<Self.textLength { buffer[place] = UInt8(ascii: "-") }
            for index in 0..<32 {
                let word = index < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (index & 15)) & 15)
                buffer[Self.place(of: index)] = digit < 10 ? UInt8(ascii: "0") + digit : letter + digit
            }
            count = Self.textLength
        }
    }

    /// `nil` for anything but the form that ``text(isUpperCase:)`` gives.
    package init?(text: UnsafeBufferPointer<UInt8>, isUpperCase: Bool) {
        guard text.count == Self.textLength else { return nil }
        let letter = UInt8(ascii: isUpperCase ? "A" : "a")
        var words: (high: UInt64, low: UInt64) = (0, 0)
        for place in [8, 13, 18, 23] where text[place] != UInt8(ascii: "-") { return nil }
        for index in 0..<32 {
            let byte = text[Self.place(of: index)]
            let digit: UInt64
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = UInt64(byte - UInt8(ascii: "0"))
            case letter...letter + 5: digit = UInt64(byte - letter) + 10
            default: return nil
            }
            if index < 16 { words.high = words.high << 4 | digit } else { words.low = words.low << 4 | digit }
        }
        self.init(high: words.high, low: words.low)
    }

    /// Where a hexadecimal digit stands among the characters.
    private static func place(of digit: Int) -> Int {
        digit + (digit >= 8 ? 1 : 0) + (digit >= 12 ? 1 : 0) + (digit >= 16 ? 1 : 0) + (digit >= 20 ? 1 : 0)
    }
}

extension PreparedStatement {
    /// Binds what names a row in a table with keys of this form.
    package func bind(_ index: Int32, _ id: RowID, as form: KeyForm) {
        if form == .blob { bind(index, id) } else { bind(index, form.value(id)) }
    }

    /// The row that a key of this form names.
    package func rowID(_ column: Int32, as form: KeyForm) throws -> RowID {
        if form == .blob { return try rowID(column) }
        guard let id = form.id(of: value(column)) else {
            throw StoreError(.corrupt, "A row's id is not \(form.words).")
        }
        return id
    }
}
