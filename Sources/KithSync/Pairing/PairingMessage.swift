/// What two devices say to each other while they pair. One message is one frame; see docs/pairing.md, "Messages".
enum PairingMessage: Hashable, Sendable {
    /// The initiator's first word. `value` is its commitment when numbers are compared, its nonce when a token is used; `app` is the hash
    /// that names its app between these two devices.
    case open(version: UInt8, method: UInt8, value: [UInt8], app: [UInt8])
    /// The acceptor's nonce.
    case nonce([UInt8])
    /// The nonce that the initiator committed to.
    case reveal([UInt8])
    /// That the sender knows the token.
    case proof([UInt8])
    /// The person at the sender said yes, or the token did. The name is what the device calls itself; `port` is where its node listens.
    case accept(name: [UInt8], port: UInt16, household: HouseholdClaim)
    /// The sender trusts the receiver from now on.
    case done
    /// There will be no pairing.
    case end(PairingFailure.Code)
}

// MARK: - Wire format

extension PairingMessage {
    private enum Kind {
        static let open: UInt8 = 1
        static let nonce: UInt8 = 2
        static let reveal: UInt8 = 3
        static let proof: UInt8 = 4
        static let accept: UInt8 = 5
        static let done: UInt8 = 6
        static let end: UInt8 = 7
    }

    var encoded: [UInt8] {
        switch self {
        case .open(let version, let method, let value, let app): [Kind.open, version, method] + value + app
        case .nonce(let nonce): [Kind.nonce] + nonce
        case .reveal(let nonce): [Kind.reveal] + nonce
        case .proof(let proof): [Kind.proof] + proof
        case .accept(let name, let port, let household):
            [Kind.accept, UInt8(truncatingIfNeeded: port >> 8), UInt8(truncatingIfNeeded: port), household.kind.rawValue]
                + household.household + name
        case .done: [Kind.done]
        case .end(let code): [Kind.end, code.rawValue]
        }
    }

    /// Reads a message. Of a first message in another version only that version is read.
    init(_ bytes: [UInt8]) throws(WireError) {
        guard bytes.count <= PairingLimits.messageBytesMax else { throw .limitExceeded("messageBytesMax") }
        var reader = ByteReader(bytes)
        let kind = try reader.byte()
        self = try Self.read(kind, &reader)
        guard reader.isAtEnd else { throw .malformed("bytes after the end of a message") }
    }

    private static func read(_ kind: UInt8, _ reader: inout ByteReader) throws(WireError) -> PairingMessage {
        switch kind {
        case Kind.open:
            let version = try reader.byte()
            guard version == PairingLimits.version else {
                _ = try reader.raw(reader.remaining)
                return .open(version: version, method: 0, value: [], app: [])
            }
            return .open(
                version: version, method: try reader.byte(), value: try reader.raw(PairingLimits.hashBytes),
                app: try reader.raw(PairingLimits.hashBytes))
        case Kind.nonce: return .nonce(try reader.raw(PairingLimits.hashBytes))
        case Kind.reveal: return .reveal(try reader.raw(PairingLimits.hashBytes))
        case Kind.proof: return .proof(try reader.raw(PairingLimits.hashBytes))
        case Kind.accept:
            let port = try UInt16(reader.byte()) << 8 | UInt16(reader.byte())
            guard let kind = HouseholdClaim.Kind(rawValue: try reader.byte()) else { throw .malformed("household") }
            let household = HouseholdClaim(kind, try reader.raw(PairingLimits.hashBytes))
            guard reader.remaining <= PairingLimits.nameBytesMax else { throw .limitExceeded("nameBytesMax") }
            return .accept(name: try reader.raw(reader.remaining), port: port, household: household)
        case Kind.done: return .done
        case Kind.end: return .end(PairingFailure.Code(rawValue: try reader.byte()) ?? .unspecified)
        default: throw .unsupported("message \(kind)")
        }
    }
}
