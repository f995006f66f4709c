/// The six digits that two people compare.
public struct PairingCode: Hashable, Sendable {
    /// Different codes there are: one in so many is what an attacker guesses right.
    static let count: UInt64 = 1_000_000

    package let number: Int

    /// Takes the code from the first eight bytes of `material`. Of 2⁶⁴ numbers the remainder prefers none by more than one in 10¹³.
    init(_ material: [UInt8]) {
        let number = material.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.number = Int(number % Self.count)
    }

    /// The six digits without a space.
    public var digits: String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
    }
}

extension PairingCode: CustomStringConvertible {
    /// For people: `048 213`.
    public var description: String { digits.prefix(3) + " " + digits.suffix(3) }
}
