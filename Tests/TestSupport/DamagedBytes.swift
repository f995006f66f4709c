extension [UInt8] {
    /// Changes, drops, adds or repeats a few bytes somewhere.
    package mutating func damage(_ random: inout SplitMix64) {
        guard !isEmpty else { return }
        let index = Int.random(in: 0..<count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: self[index] = .random(in: 0...255, using: &random)
        case 1: self[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: remove(at: index)
        case 3: insert(.random(in: 0...255, using: &random), at: index)
        case 4: replaceSubrange(index..<Swift.min(index + 3, count), with: [0xff, 0xff, 0xff, 0xff, 0x7f])
        default: append(contentsOf: self[index...].prefix(40))
        }
    }
}
