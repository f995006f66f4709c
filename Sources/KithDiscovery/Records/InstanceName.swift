/// The name under which a node is announced: 1 to 63 bytes of UTF-8 without control characters.
///
/// Names are compared as bytes. A name is chosen by whoever announces and says nothing about who that is.
package struct InstanceName: Hashable, Sendable {
    /// The most bytes a name may have: one DNS label (RFC 6763, section 4.1.1).
    package static let bytesMax = 63

    package let bytes: [UInt8]

    /// - Returns: nil unless `bytes` are 1 to 63 bytes of valid UTF-8 without control characters.
    package init?(bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty, bytes.count <= Self.bytesMax else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return nil }
        self.bytes = Array(bytes)
    }

    /// A fresh name of 80 random bits in 16 letters and digits, which tells a stranger nothing.
    package static func random(using generator: inout some RandomNumberGenerator) -> InstanceName {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
        return InstanceName(unchecked: (0..<16).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }
}

extension InstanceName: Comparable {
    package static func < (left: InstanceName, right: InstanceName) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

extension InstanceName: CustomStringConvertible {
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}
