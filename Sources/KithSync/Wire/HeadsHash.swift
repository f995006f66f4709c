import Crypto
import KithCausality

/// What tells whether two stores know the same, in 32 bytes: nobody can find other heads with the same hash.
package struct HeadsHash: Hashable, Sendable {
    /// SHA-256, of ``byteCount`` bytes.
    package let bytes: [UInt8]

    package static let byteCount = SHA256.byteCount

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Parameter heads: strictly ascending by replica.
    package init(of heads: some Collection<Head>) {
        var writer = ByteWriter(reservingCapacity: 16 + heads.count * 32)
        writer.raw("kith heads 1\n".utf8)
        for head in heads {
            writer.identifier(head.dot.replica)
            writer.fixed64(head.dot.sequence)
            writer.fixed64(head.timestamp.rawValue)
        }
        bytes = Array(SHA256.hash(data: writer.bytes))
    }
}

/// What a replica says of its knowledge after a hello that said its hash alone.
package enum HeadsMessage: Hashable, Sendable {
    /// All of it.
    case all(Knowledge)
    /// The newest heads; ``rest(_:_:)`` follows.
    case newest(Knowledge)
    /// What I know of the replicas that you have named and I have not, and the hash of my heads of replicas that neither of us has named.
    case rest([Head], HeadsHash)
}

/// What a replica knows, as it says it.
package struct Knowledge: Hashable, Sendable {
    /// Strictly ascending by replica.
    package var heads: [Head]
    /// The part of it that would survive a loss of power; `nil` if all would.
    package var durable: VersionVector?
    /// The catch-up that was broken off, if there is one.
    package var resumption: Resumption?

    package init(heads: [Head], durable: VersionVector? = nil, resumption: Resumption? = nil) {
        self.heads = heads
        self.durable = durable
        self.resumption = resumption
    }

    /// Whether there is nothing more to be said than the heads.
    var isPlain: Bool { durable == nil && resumption == nil }
}
