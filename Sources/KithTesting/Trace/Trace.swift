/// A fingerprint of all that happened in a run: equal if, and almost only if, the same happened in the same order.
///
/// FNV-1a with 64 bits; see https://datatracker.ietf.org/doc/html/draft-eastlake-fnv.
struct Trace {
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    /// What happened, for people; kept only if it is asked for.
    private(set) var lines: [String] = []
    let keepsLines: Bool

    init(keepsLines: Bool = false) {
        self.keepsLines = keepsLines
    }

    mutating func mix(_ byte: UInt8) {
        hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }

    mutating func mix(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { mix(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    mutating func mix(_ number: Int) {
        mix(UInt64(bitPattern: Int64(number)))
    }

    mutating func mix(_ bytes: [UInt8]) {
        mix(bytes.count)
        for byte in bytes { mix(byte) }
    }

    mutating func note(_ time: Int64, _ line: @autoclosure () -> String) {
        if keepsLines { lines.append("\(time) ms  \(line())") }
    }
}
