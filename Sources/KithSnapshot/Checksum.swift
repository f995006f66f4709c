import Foundation

/// CRC-32 as in ISO 3309, ITU-T V.42 and zlib, by a table (Sarwate, "Computation of cyclic redundancy checks via table look-up", 1988).
enum Checksum {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    static func of(_ bytes: some ContiguousBytes) -> UInt32 {
        bytes.withUnsafeBytes { bytes in
            table.withUnsafeBufferPointer { table in
                var value = UInt32.max
                for byte in bytes { value = value >> 8 ^ table[Int((value ^ UInt32(byte)) & 0xFF)] }
                return ~value
            }
        }
    }
}
