/// What SQLite stored in a cell, bit for bit.
///
/// Text is kept as the bytes SQLite holds, valid UTF-8 or not, and a real by its bit pattern, so that equality
/// of values is equality of bits (Swift's own `==` takes NFC for NFD and 0.0 for -0.0).
public enum ColumnValue: Hashable, Sendable {
    case null
    case integer(Int64)
    /// An IEEE 754 double.
    case real(bitPattern: UInt64)
    /// The bytes of a TEXT value.
    case text([UInt8])
    case blob([UInt8])

    /// The value of a Swift string.
    public static func text(_ string: String) -> ColumnValue { .text(Array(string.utf8)) }

    /// The value of a Swift double.
    public static func real(_ number: Double) -> ColumnValue { .real(bitPattern: number.bitPattern) }

    /// About how many bytes the value takes on the wire.
    var byteCount: Int {
        switch self {
        case .null: 1
        case .integer, .real: 9
        case .text(let bytes), .blob(let bytes): bytes.count + 5
        }
    }
}

extension ColumnValue: Comparable {
    /// SQLite's own order of storage classes (NULL, numbers, text, blob), then by content. Total and deterministic.
    public static func < (left: ColumnValue, right: ColumnValue) -> Bool {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): a < b
        case (.real(let a), .real(let b)): Double(bitPattern: a).isTotallyOrdered(belowOrEqualTo: Double(bitPattern: b)) && a != b
        case (.text(let a), .text(let b)), (.blob(let a), .blob(let b)): a.lexicographicallyPrecedes(b)
        default: left.storageClass < right.storageClass
        }
    }

    private var storageClass: Int {
        switch self {
        case .null: 0
        case .integer: 1
        case .real: 2
        case .text: 3
        case .blob: 4
        }
    }
}
