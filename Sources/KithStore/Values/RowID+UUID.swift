import Foundation
import KithSync

extension RowID {
    /// The same id.
    public init(_ id: UUID) {
        let (high, low) = withUnsafeBytes(of: id.uuid) { bytes in
            (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        self.init(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
    }

    /// The same id, as the app's records have it.
    public var uuid: UUID { UUID(self) }
}

extension UUID {
    /// The same id.
    public init(_ id: RowID) {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { bytes in
            bytes.storeBytes(of: id.high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: id.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        self.init(uuid: bytes)
    }
}
