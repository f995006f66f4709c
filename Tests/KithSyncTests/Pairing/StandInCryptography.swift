import KithSync
import TestSupport

/// Mixing functions in the place of the real ones, a hundred times as fast. Good enough for attackers that do not look inside.
struct StandInCryptography: PairingCryptography {
    /// Distinct codes: fewer than a million, so that chance can be measured. A power of two.
    var codes: UInt64?
    /// Whether commitments are empty, so that anything opens them.
    var isWithoutCommitments = false

    func hash(_ bytes: [UInt8]) -> [UInt8] {
        isWithoutCommitments ? [UInt8](repeating: 0, count: 32) : Self.mix(bytes, seed: 1)
    }

    func authenticationCode(for bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var result = Self.mix(key + bytes, seed: 2)
        guard let codes else { return result }
        // The code is made of the first eight bytes; the others stay as they are.
        let number = result.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % codes
        for index in 0..<8 { result[index] = UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * index)) }
        return result
    }

    /// Two accumulators over the words of `bytes`, then four words of output by the finalizer of SplitMix64.
    private static func mix(_ bytes: [UInt8], seed: UInt64) -> [UInt8] {
        var low = seed
        var high = UInt64(bytes.count)
        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset + 8 <= buffer.count {
                let word = buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                low = finalize(low ^ word)
                high = finalize(high &+ low)
                offset += 8
            }
            var rest: UInt64 = 0
            while offset < buffer.count {
                rest = rest << 8 | UInt64(buffer[offset])
                offset += 1
            }
            low = finalize(low ^ rest)
            high = finalize(high &+ low)
        }
        return withUnsafeBytes(of: (low, high, finalize(low &+ 1), finalize(high ^ low))) { Array($0) }
    }

    private static func finalize(_ value: UInt64) -> UInt64 {
        var value = value &+ 0x9e37_79b9_7f4a_7c15
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
