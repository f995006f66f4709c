/// Random numbers that follow from a seed, the same in every process. See Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", 2014.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// True in `percent` of 100 cases.
    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// One of `choices`, of which there is at least one.
    package mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }
}
