import Crypto
import KithCausality
import KithSQLite
import KithSync

extension RowID {
    /// The id of the row of `table` that has this key: the same on every machine.
    ///
    ///     entry.id = try RowID(table: "entry", key: .text("2026-11-21"))
    ///
    /// - Parameters:
    ///   - table: the table's name, as it was declared.
    ///   - key: the values of the key's columns in the order of ``TrackedTable/key``, each as the column stores it.
    /// - Throws: ``StoreError`` with code `valueRejected` if a value is NULL or a real.
    public init(table: String, key: ColumnValue...) throws(StoreError) {
        guard let id = RowID(table: Array(table.utf8), key: key) else {
            throw StoreError(.valueRejected, "A key of \(table) holds NULL or a real. Use integers, text or blobs.")
        }
        self = id
    }

    /// `nil` if `key` holds what no key can hold.
    package init?(table: [UInt8], key: [ColumnValue]) {
        guard let name = Self.canonicalName(table: table, key: key) else { return nil }
        self.init(name: name, in: Self.keyNamespace)
    }

    /// The UUID of version 5 for `name` (RFC 9562, section 5.5).
    package init(name: [UInt8], in namespace: RowID) {
        var hash = Insecure.SHA1()
        hash.update(data: namespace.bytes)
        hash.update(data: name)
        let digest = Array(hash.finalize())
        func number(_ bytes: Range<Int>) -> UInt64 { digest[bytes].reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: number(0..<8) & ~0xF000 | 0x5000, low: number(8..<16) & ~(0b11 << 62) | 0b10 << 62)
    }

    /// Where the ids of natural keys live. Drawn once; part of the format.
    static let keyNamespace = RowID(high: 0x7a63_f086_888b_4bc9, low: 0xbc2e_da50_0a3b_9125)

    /// The table's name and then each value: a letter for its type, and its bytes.
    ///
    ///     name  = bytes(table) value…
    ///     value = "i" 8 bytes of two's complement | "t" bytes(UTF-8 as stored) | "b" bytes(blob)
    ///     bytes = length in 4 bytes, then the bytes
    ///
    /// Numbers are big-endian. Every part tells its own length, so that two keys never share a name.
    static func canonicalName(table: [UInt8], key: [ColumnValue]) -> [UInt8]? {
        var name: [UInt8] = []
        func append(_ number: UInt64, bytes count: Int) {
            for index in (0..<count).reversed() { name.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
        }
        func append(_ bytes: [UInt8]) {
            append(UInt64(bytes.count), bytes: 4)
            name += bytes
        }
        append(table)
        for value in key {
            switch value {
            case .integer(let number):
                name.append(UInt8(ascii: "i"))
                append(UInt64(bitPattern: number), bytes: 8)
            case .text(let bytes):
                name.append(UInt8(ascii: "t"))
                append(bytes)
            case .blob(let bytes):
                name.append(UInt8(ascii: "b"))
                append(bytes)
            case .null, .real:
                return nil
            }
        }
        return name
    }
}
