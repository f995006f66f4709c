import KithSync

/// A value as a script writes it: SQL's literals, and `inf` and `-inf`.
public struct Literal: Hashable, Sendable {
    /// The value that it stands for.
    public let value: ColumnValue

    public init(_ value: ColumnValue) {
        self.value = value
    }
}

extension Literal: CustomStringConvertible {
    public var description: String {
        switch value {
        case .null: "null"
        case .integer(let number): "\(number)"
        case .real(let bits): "\(Double(bitPattern: bits))"
        case .text(let bytes): "'" + String(decoding: bytes, as: UTF8.self).replacing("'", with: "''") + "'"
        case .blob(let bytes): "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
        }
    }
}

extension Literal {
    /// Reads a literal at the start of `text` and removes it; `nil` if there is none.
    init?(parsing text: inout Substring) {
        if text.first == "'" {
            guard let string = Self.quoted(&text) else { return nil }
            self.init(.text(string))
        } else if text.hasPrefix("x'") {
            text.removeFirst()
            guard let digits = Self.quoted(&text), let bytes = Self.bytes(hexadecimal: digits) else { return nil }
            self.init(.blob(bytes))
        } else {
            let word = text.prefix { !$0.isWhitespace && $0 != ";" }
            text = text[word.endIndex...]
            if word == "null" {
                self.init(.null)
            } else if let number = Int64(word) {
                self.init(.integer(number))
            } else if let number = Double(word), !number.isNaN {
                self.init(.real(number))
            } else {
                return nil
            }
        }
    }

    private static func quoted(_ text: inout Substring) -> String? {
        var result = ""
        text.removeFirst()
        while let index = text.firstIndex(of: "'") {
            result += text[..<index]
            text = text[text.index(after: index)...]
            if text.first != "'" { return result }
            result += "'"
            text.removeFirst()
        }
        return nil
    }

    private static func bytes(hexadecimal digits: String) -> [UInt8]? {
        let digits = Array(digits.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
