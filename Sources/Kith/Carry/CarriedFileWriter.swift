import KithSync
import KithTrust

/// Writes a carried file: sealed, signed, and under its name only when it is whole.
final class CarriedFileWriter {
    private let key: DeviceKey
    private let draft: CarryDraft
    private var sealer: PieceSealer
    private var hash = RunningHash()
    private var bytes: Int64 = 0

    /// - Parameter head: its key is that of `key`.
    init(_ path: String, _ head: CarriedHead, by key: DeviceKey, in envelope: HouseholdEnvelope) throws {
        self.key = key
        draft = try CarryDraft(for: path)
        sealer = envelope.sealer { [handle = draft.handle] in try handle.append($0) }
        try draft.handle.append(envelope.header)
        hash.add(envelope.header)
        try put(head.bytes)
    }

    /// Adds a record.
    func put(_ record: [UInt8]) throws {
        let length = FrameDecoder.lengthBytes(of: record)
        hash.add(length)
        hash.add(record)
        try sealer.add(length)
        try sealer.add(record)
    }

    /// Signs the file and gives it its name.
    ///
    /// - Parameter movesAside: whether the file that had it gets another name; else it is replaced.
    /// - Returns: its bytes, and the other name.
    @discardableResult
    func finish(movingAside movesAside: Bool = false) throws -> (bytes: Int64, aside: String?) {
        guard let end = CarriedRecord.end(hash, by: key) else { throw CarryError(.cannotSend, "The file cannot be signed.") }
        try sealer.add(FrameDecoder.lengthBytes(of: end))
        try sealer.add(end)
        try sealer.finish()
        let size = try draft.handle.size()
        return (size, try draft.finish(movingAside: movesAside))
    }
}
