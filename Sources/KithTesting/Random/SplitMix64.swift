/// A small random number generator whose numbers are the same everywhere, for ever.
///
/// The helpers below are its own, because the standard library may change how it draws from a range. See Steele, Lea and
/// Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    /// A stream of its own for each concern, so that a change in one leaves the numbers of the others alone.
    init(seed: UInt64, _ concern: Concern, _ number: Int = 0) {
        var mixer = SplitMix64(seed: seed)
        mixer.state ^= concern.rawValue &* 0xd6e8_feb8_6659_fd93
        mixer.state = mixer.next() ^ UInt64(truncatingIfNeeded: number) &* 0xa076_1d64_78bd_642f
        state = mixer.next()
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number of `range`.
    mutating func int(in range: ClosedRange<Int>) -> Int {
        let width = UInt64(bitPattern: Int64(range.upperBound &- range.lowerBound)) &+ 1
        return width == 0 ? Int(truncatingIfNeeded: next()) : range.lowerBound &+ Int(next().multipliedFullWidth(by: width).high)
    }

    /// A number of `range`.
    mutating func int64(in range: ClosedRange<Int64>) -> Int64 {
        Int64(int(in: Int(range.lowerBound)...Int(range.upperBound)))
    }

    /// Whether an event of this likelihood, in percent, takes place.
    mutating func chance(percent: Int) -> Bool {
        int(in: 0...99) < percent
    }

    /// Whether an event takes place that does so in this share of all cases, from 0 to 1.
    mutating func chance(_ share: Double) -> Bool {
        Double(int(in: 0...999_999)) < share * 1_000_000
    }

    /// One of `elements`; `nil` if there are none.
    mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[int(in: 0...elements.count - 1)]
    }

    /// One of the indices of `weights`, each as likely as its weight says; 0 if all weigh nothing.
    mutating func index(weighted weights: [Int]) -> Int {
        let total = weights.reduce(0, +)
        guard total > 0 else { return 0 }
        var rest = int(in: 0...total - 1)
        for (index, weight) in weights.enumerated() {
            if rest < weight { return index }
            rest -= weight
        }
        return 0
    }
}

/// What random numbers are drawn for.
enum Concern: UInt64 {
    case swarm = 1
    case workload
    case values
    case faults
    case network
    case stores
    case identities
    case hostility
    case routing
    case sticks
    case household
}
