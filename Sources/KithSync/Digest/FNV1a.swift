import KithCausality

/// Fowler, Noll and Vo, 64 bits, variant 1a.
struct FNV1a {
    private var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The hash with every bit spread over all (the finaliser of SplitMix64), as a sum of hashes needs it.
    var mixed: UInt64 {
        var z = value
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func add(_ bytes: [UInt8]) {
        add(UInt64(bytes.count))
        var hash = value
        bytes.withUnsafeBufferPointer { for byte in $0 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 } }
        value = hash
    }

    mutating func add(_ number: UInt64) {
        value = (value ^ number) &* 0x100_0000_01b3
        value = (value ^ (value >> 32)) &* 0x100_0000_01b3
    }

    mutating func add(_ dot: Dot) {
        add(dot.replica.high)
        add(dot.replica.low)
        add(dot.sequence)
    }

    mutating func add(_ content: ColumnValue) {
        switch content {
        case .null: add(0)
        case .integer(let number):
            add(1)
            add(UInt64(bitPattern: number))
        case .real(let bitPattern):
            add(2)
            add(bitPattern)
        case .text(let bytes):
            add(3)
            add(bytes)
        case .blob(let bytes):
            add(4)
            add(bytes)
        }
    }

    mutating func add(_ contents: ContentSet) {
        if contents.isEmpty { return }
        add(UInt64(contents.hashes.count))
        for hash in contents.hashes { add(hash) }
    }
}
