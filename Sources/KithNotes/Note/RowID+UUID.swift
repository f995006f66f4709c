import Foundation
import Kith

extension RowID {
    init(_ id: UUID) {
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: word(id.bytes[..<8]), low: word(id.bytes[8...]))
    }
}

extension UUID {
    init(_ id: RowID) {
        self = Data(id.bytes).withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
