import KithCausality
import KithSync

/// How much memory a value holds for heads and dots: each array once, however many parts of the value share it. Books of proofs, which
/// are the store's, are left out.
enum HeldHeads {
    static func bytes(in value: Any) -> Int {
        var arrays: [UInt: Int] = [:]
        collect(value, &arrays)
        return arrays.values.reduce(0, +)
    }

    /// How many arrays of the length of a public key it holds.
    static func keyCount(in value: Any) -> Int {
        var addresses: Set<UInt> = []
        collectKeys(value, &addresses)
        return addresses.count
    }

    private static func collectKeys(_ value: Any, _ addresses: inout Set<UInt>) {
        guard let bytes = value as? [UInt8], !bytes.isEmpty else {
            for child in Mirror(reflecting: value).children { collectKeys(child.value, &addresses) }
            return
        }
        if bytes.count == HeadProof.Origin.keyBytes { _ = bytes.withUnsafeBytes { addresses.insert(UInt(bitPattern: $0.baseAddress)) } }
    }

    private static func collect(_ value: Any, _ arrays: inout [UInt: Int]) {
        if value is any ProofBook || value is [UInt8] { return }
        if let dots = value as? [Dot] { return note(dots, &arrays) }
        if let heads = value as? [Head] { return note(heads, &arrays) }
        for child in Mirror(reflecting: value).children { collect(child.value, &arrays) }
    }

    private static func note<Element>(_ array: [Element], _ arrays: inout [UInt: Int]) {
        array.withUnsafeBufferPointer { buffer in
            guard let address = buffer.baseAddress, !array.isEmpty else { return }
            arrays[UInt(bitPattern: address)] = array.capacity * MemoryLayout<Element>.stride
        }
    }
}
