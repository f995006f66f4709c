import KithCausality

/// What one message between two replicas says. How long it is, is the transport's to tell.
package enum Frame: Hashable, Sendable {
    /// Who I am and what I know. The first frame in both directions, sent without waiting for the other's.
    case hello(Hello)
    /// What I know, if my hello said no more than its hash.
    case heads(HeadsMessage)
    /// A delta, or a part of one; `alsoSentTo` are other replicas to which the sender sends the same.
    case slice(Slice, alsoSentTo: [ReplicaID])
    /// Who has made the commits that the frames from here on name. Strictly ascending by replica.
    case proofs([ProofOffer])
    /// Slices were dealt with, or what was applied has become durable.
    case acknowledge(Acknowledgement)
    /// A slice was made for a vector I do not have: start again from this one.
    case want(Want)
    /// Are you there, and what do you know? Answered with a ``pong(_:)`` of the same nonce.
    case ping(Pulse)
    case pong(Pulse)
    /// Bytes of attachments: between those that both have ``Capabilities/attachments``.
    case attachment(AttachmentMessage)
    /// What members say to each other about the household; opaque here, at most ``WireLimits/householdBytesMax`` bytes. Only where
    /// both sides have ``Capabilities/household``.
    case household([UInt8])
    /// What all of my rows sum up to.
    case digest(StoreDigest, wantsAnswer: Bool)
    /// If you are still at this vector, cut this range of your rows into parts; or send me the rows.
    case digestQuestion(VersionVector, DigestRange, wantsRows: Bool)
    /// What the parts of the range sum up to; none if it cannot be said any more.
    case digestParts(VersionVector, DigestRange, [DigestPart])
    /// All that I hold of the rows of a range, to mend yours with.
    case digestRows(DigestRange, Slice)
    /// Why I close. The last frame.
    case goodbye(code: CloseCode, message: String)
}

/// The first frame of a session.
package struct Hello: Hashable, Sendable {
    package var versions: ProtocolVersions
    package var replica: ReplicaID
    /// The app that the sender synchronises for, as ``AppID`` writes it. Must be equal on both sides.
    package var app: String
    /// The group whose members synchronise; opaque, at most ``WireLimits/groupBytesMax`` bytes. Must be equal on both sides.
    package var group: [UInt8]
    /// Name and version of the software, for people.
    package var software: String
    /// Optional abilities; a session uses those both sides have. Unknown ones are kept and ignored.
    package var capabilities: Capabilities
    /// Milliseconds since 1970 on the sender's wall clock.
    package var wallClockMilliseconds: Int64
    /// The sender's hybrid clock.
    package var clock: HybridTimestamp
    /// The newest commit known of every replica: what the sender knows, and what it holds of the receiver. Empty with a ``headsHash``.
    package var heads: [Head]
    /// The part of it that would survive a loss of power.
    package var durable: VersionVector
    /// The catch-up that was broken off, if there is one.
    package var resumption: Resumption?
    /// The hash of the heads; they are said afterwards, as far as the other side needs them.
    package var headsHash: HeadsHash?
    /// Whether there is more to be said than the heads, so that it does not help if the other side has the same.
    package var saysMore = false

    package init(
        versions: ProtocolVersions, replica: ReplicaID, app: String, group: [UInt8], software: String, capabilities: Capabilities,
        wallClockMilliseconds: Int64, clock: HybridTimestamp, heads: [Head], durable: VersionVector, resumption: Resumption?
    ) {
        self.versions = versions
        self.replica = replica
        self.app = app
        self.group = group
        self.software = software
        self.capabilities = capabilities
        self.wallClockMilliseconds = wallClockMilliseconds
        self.clock = clock
        self.heads = heads
        self.durable = durable
        self.resumption = resumption
    }

    package var vector: VersionVector { VersionVector(heads.map(\.dot)) }

    /// What it says of what its sender knows.
    package var knowledge: Knowledge {
        get { Knowledge(heads: heads, durable: durable == vector ? nil : durable, resumption: resumption) }
        set {
            (heads, durable, resumption) = (
                newValue.heads, newValue.durable ?? VersionVector(newValue.heads.map(\.dot)), newValue.resumption
            )
        }
    }
}

/// What has become of the slices received so far.
package struct Acknowledgement: Hashable, Sendable {
    /// Slices of this session dealt with: applied, refused or dropped.
    package var slices: UInt64
    /// What would survive a loss of power.
    package var durable: VersionVector

    package init(slices: UInt64, durable: VersionVector) {
        self.slices = slices
        self.durable = durable
    }
}

/// What the sender of a refused slice is asked for instead.
package struct Want: Hashable, Sendable {
    /// Slices of this session dealt with, the refused one among them.
    package var slices: UInt64
    /// What the receiver really knows.
    package var since: VersionVector
    /// The catch-up that was broken off, if there is one.
    package var resumption: Resumption?

    package init(slices: UInt64, since: VersionVector, resumption: Resumption?) {
        self.slices = slices
        self.since = since
        self.resumption = resumption
    }
}

/// A sign of life, which also says what its sender knows.
package struct Pulse: Hashable, Sendable {
    package var nonce: UInt64
    /// Milliseconds since 1970 on the sender's wall clock.
    package var wallClockMilliseconds: Int64
    package var vector: VersionVector
    /// The part of it that would survive a loss of power.
    package var durable: VersionVector

    package init(nonce: UInt64, wallClockMilliseconds: Int64, vector: VersionVector, durable: VersionVector) {
        self.nonce = nonce
        self.wallClockMilliseconds = wallClockMilliseconds
        self.vector = vector
        self.durable = durable
    }
}

extension Frame {
    /// How many entries the longest vector has in which the frame tells what a store knows; 0 if it tells none.
    var entriesOfVectors: Int {
        switch self {
        case .heads(.all(let knowledge)): knowledge.heads.count
        case .slice(let slice, _), .digestRows(_, let slice): max(slice.since.count, slice.vector.count)
        case .acknowledge(let acknowledgement): acknowledgement.durable.count
        case .want(let want): want.since.count
        case .ping(let pulse), .pong(let pulse): pulse.vector.count
        case .digest(let digest, _): digest.vector.count
        case .digestQuestion(let vector, _, _), .digestParts(let vector, _, _): vector.count
        case .hello, .heads, .proofs, .attachment, .household, .goodbye: 0
        }
    }
}
