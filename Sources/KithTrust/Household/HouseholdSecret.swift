import Crypto

/// 32 random bytes that the members of a household share, to recognise each other's announcements, and to open files that are carried to
/// members whose key their writer does not know. They open nothing else.
///
/// Whoever revokes a device makes a new one, so that the revoked device recognises nobody from then on.
package struct HouseholdSecret: Hashable, Sendable {
    static let byteCount = 32
    /// How many a device keeps: announcements of members that have not heard of the newest ones are recognised, too.
    static let keptMax = 4

    /// Of several, the one with the highest number is used; of equal ones the one with the greater bytes.
    package let number: UInt32
    package let bytes: [UInt8]

    /// `nil` if there are not 32 bytes.
    package init?(number: UInt32, bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.number = number
        self.bytes = Array(bytes)
    }

    /// A secret to follow the newest of `others`.
    static func random(after others: [HouseholdSecret], using generator: inout some RandomNumberGenerator) -> HouseholdSecret {
        let newest = others.map(\.number).max() ?? 0
        return HouseholdSecret(following: newest, bytes: (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    private init(following number: UInt32, bytes: [UInt8]) {
        self.number = number == .max ? .max : number + 1
        self.bytes = bytes
    }

    /// The newest of both, newest first.
    static func merged(_ left: [HouseholdSecret], _ right: [HouseholdSecret]) -> [HouseholdSecret] {
        let all = Set(left).union(right).sorted { left, right in
            left.number != right.number ? left.number > right.number : right.bytes.lexicographicallyPrecedes(left.bytes)
        }
        return Array(all.prefix(keptMax))
    }
}

extension HouseholdSecret: CustomStringConvertible, CustomReflectable {
    /// Nothing of the secret, so that no log shows it.
    package var description: String { "HouseholdSecret(\(number))" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
