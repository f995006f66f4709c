import TestSupport

extension [UInt8] {
    /// The bytes with a few of them changed, added, removed or repeated.
    func mutated(using random: inout SplitMix64) -> [UInt8] {
        var bytes = self
        for _ in 0..<1 + random.below(3) {
            let index = random.below(bytes.count + 1)
            switch random.below(6) {
            case 0: bytes.insert(UInt8(random.below(256)), at: index)
            case 1: if index < bytes.count { bytes.remove(at: index) }
            case 2: bytes.removeLast(Swift.min(bytes.count, random.below(4)))
            case 3: bytes.insert(contentsOf: bytes.suffix(random.below(6)), at: index)
            case 4: if index < bytes.count { bytes[index] ^= 1 << UInt8(random.below(8)) }
            default: if index < bytes.count { bytes[index] = random.pick([0, 1, 0x7F, 0x80, 0xFF]) }
            }
        }
        return bytes
    }
}
