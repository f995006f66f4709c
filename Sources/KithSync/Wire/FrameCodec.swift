import KithCausality

/// A frame in bytes, and the commits that it names.
struct ClaimingFrame: Hashable, Sendable {
    let bytes: [UInt8]
    let claims: Claims
}

/// How frames stand in bytes: a type, the table of replicas that the rest refers to by number, and the fields of that type.
///
/// Bytes after the known fields are skipped, so that a later version may add what may be ignored. See docs/protocol.md.
package enum FrameCodec {
    /// Types from here on may be ignored by who does not know them; below it they are an error.
    static let firstOptionalType: UInt8 = 0x80

    /// Room for a row of a slice that is made beforehand.
    private static let rowBytesUsual = 1_024

    enum FrameType {
        static let hello: UInt8 = 1
        static let slice: UInt8 = 2
        static let acknowledge: UInt8 = 3
        static let want: UInt8 = 4
        static let ping: UInt8 = 5
        static let pong: UInt8 = 6
        static let goodbye: UInt8 = 7
        static let proofs: UInt8 = 8
        /// Ahead of the type of a frame whose vectors are differences: ``WireBases``.
        static let differences: UInt8 = 9
        static let heads: UInt8 = 10
        static let household: UInt8 = 0xA0
        /// Undone before a frame is decoded: ``FrameCompression``.
        static let compressed: UInt8 = 0xB0
        static let digest: UInt8 = firstOptionalType + 16
        static let digestQuestion: UInt8 = firstOptionalType + 17
        static let digestParts: UInt8 = firstOptionalType + 18
        static let digestRows: UInt8 = firstOptionalType + 19
        /// The optional ones that this build knows.
        static let knownOptional = digest...digestRows
        /// Those that say what somebody knows, after the hello.
        static let withVectors: Set<UInt8> = Set(knownOptional).union([slice, acknowledge, want, ping, pong, heads])
    }

    /// - Parameter bases: what its receiver takes its vectors for differences from.
    package static func encode(_ frame: Frame, _ bases: WireBases? = nil) -> [UInt8] {
        var body = ByteWriter()
        return encode(frame, bases, &body).bytes
    }

    /// The same, with the commits that the frame names.
    static func encodeWithClaims(_ frame: Frame, _ bases: WireBases? = nil) -> ClaimingFrame {
        var body = ByteWriter()
        body.noteClaims()
        let (bytes, replicas) = encode(frame, bases, &body)
        return ClaimingFrame(bytes: bytes, claims: Claims(replicas, highest: body.highest ?? []))
    }

    private static func encode(
        _ frame: Frame, _ bases: WireBases?, _ body: inout ByteWriter
    ) -> (bytes: [UInt8], replicas: ReplicaTable) {
        var replicas = ReplicaTable()
        if let bases, frame.entriesOfVectors > bases.spelledMax { body.bases = bases }
        let type: UInt8
        switch frame {
        case .hello(let hello):
            type = FrameType.hello
            encode(hello, to: &body, &replicas)
        case .heads(let message):
            type = FrameType.heads
            encode(message, to: &body, &replicas)
        case .slice(let slice, let alsoSentTo):
            type = FrameType.slice
            body.reserve(slice.rows.count * Self.rowBytesUsual)
            SliceCodec.encode(slice, to: &body, &replicas)
            body.count(alsoSentTo.count)
            for replica in alsoSentTo { body.count(replicas.number(of: replica)) }
            SliceCodec.encodeEnding(of: slice, to: &body, &replicas)
        case .acknowledge(let acknowledgement):
            type = FrameType.acknowledge
            body.varint(acknowledgement.slices)
            body.knowledge(acknowledgement.durable, &replicas)
        case .want(let want):
            type = FrameType.want
            body.varint(want.slices)
            body.knowledge(want.since, &replicas)
            encode(want.resumption, to: &body, &replicas)
        case .ping(let pulse):
            type = FrameType.ping
            encode(pulse, to: &body, &replicas)
        case .pong(let pulse):
            type = FrameType.pong
            encode(pulse, to: &body, &replicas)
        case .attachment(let message):
            type = AttachmentCodec.encode(message, to: &body)
        case .household(let bytes):
            type = FrameType.household
            body.raw(bytes)
        case .digest(let digest, let wantsAnswer):
            type = FrameType.digest
            body.knowledge(digest.vector, &replicas)
            body.sum(digest.rows)
            body.byte(wantsAnswer ? 1 : 0)
        case .digestQuestion(let vector, let range, let wantsRows):
            type = FrameType.digestQuestion
            body.knowledge(vector, &replicas)
            body.range(range)
            body.byte(wantsRows ? 1 : 0)
        case .digestParts(let vector, let range, let parts):
            type = FrameType.digestParts
            body.knowledge(vector, &replicas)
            body.range(range)
            body.count(parts.count)
            for part in parts {
                body.optionalPosition(part.through)
                body.sum(part.rows)
            }
        case .digestRows(let range, let slice):
            type = FrameType.digestRows
            body.range(range)
            SliceCodec.encode(slice, to: &body, &replicas)
            SliceCodec.encodeEnding(of: slice, to: &body, &replicas)
        case .goodbye(let code, let message):
            type = FrameType.goodbye
            body.byte(code.rawValue)
            body.string(message, bytesMax: WireLimits.reasonBytesMax)
        case .proofs(let offers):
            type = FrameType.proofs
            ProofCodec.encode(offers, to: &body, &replicas)
        }
        return (assemble(type, replicas, body), replicas)
    }

    /// The frame in `bytes`; `nil` if it is of a kind that this build may ignore.
    ///
    /// - Parameter bases: what its sender and its receiver have said that they know. Without, no vector may be a difference.
    package static func decode(_ bytes: [UInt8], _ bases: WireBases? = nil) throws(WireError) -> Frame? {
        try decodeWithClaims(bytes, bases)?.frame
    }

    /// The same, with the commits that the frame names.
    static func decodeWithClaims(
        _ bytes: [UInt8], _ bases: WireBases? = nil
    ) throws(WireError) -> (frame: Frame, claims: Claims)? {
        guard bytes.count <= WireLimits.frameBytesMax else { throw .limitExceeded("frameBytesMax") }
        var reader = ByteReader(bytes, entriesMax: WireLimits.entriesMax)
        var type = try reader.byte()
        if type == FrameType.differences {
            guard let bases else { throw .malformed("differences from nothing") }
            type = try reader.byte()
            guard FrameType.withVectors.contains(type) else { throw .malformed("differences in a frame of another kind") }
            reader.bases = bases
        }
        if type == FrameType.household { return (.household(try household(&reader)), Claims()) }
        if type >= firstOptionalType, !AttachmentCodec.types.contains(type), !FrameType.knownOptional.contains(type) { return nil }
        let replicas = try replicaTable(&reader)
        reader.noteClaims(of: replicas.ids.count)
        let frame = try frame(type, &reader, replicas)
        return (frame, Claims(replicas, highest: reader.highest, nameSender: reader.namesSender))
    }

    private static func frame(_ type: UInt8, _ reader: inout ByteReader, _ replicas: ReplicaTable) throws(WireError) -> Frame {
        switch type {
        case FrameType.hello:
            return .hello(try hello(&reader, replicas))
        case FrameType.heads:
            return .heads(try headsMessage(&reader, replicas))
        case FrameType.slice:
            var (slice, ending) = try SliceCodec.decode(&reader, replicas)
            let others = try neighbours(&reader, replicas)
            try SliceCodec.decode(ending, of: &slice, &reader, replicas)
            return .slice(slice, alsoSentTo: others)
        case FrameType.acknowledge:
            return .acknowledge(Acknowledgement(slices: try reader.varint(), durable: try reader.knowledge(replicas)))
        case FrameType.want:
            return .want(
                Want(
                    slices: try reader.varint(), since: try reader.knowledge(replicas),
                    resumption: try resumption(&reader, replicas)))
        case FrameType.ping:
            return .ping(try pulse(&reader, replicas))
        case FrameType.pong:
            return .pong(try pulse(&reader, replicas))
        case FrameType.digest:
            let vector: VersionVector = try reader.knowledge(replicas)
            return .digest(StoreDigest(vector: vector, rows: try reader.sum()), wantsAnswer: try reader.byte() & 1 != 0)
        case FrameType.digestQuestion:
            let vector: VersionVector = try reader.knowledge(replicas)
            return .digestQuestion(vector, try reader.range(), wantsRows: try reader.byte() & 1 != 0)
        case FrameType.digestParts:
            let vector: VersionVector = try reader.knowledge(replicas)
            return .digestParts(vector, try reader.range(), try reader.parts())
        case FrameType.digestRows:
            let range = try reader.range()
            var (slice, ending) = try SliceCodec.decode(&reader, replicas)
            try SliceCodec.decode(ending, of: &slice, &reader, replicas)
            return .digestRows(range, slice)
        case FrameType.goodbye:
            let code = CloseCode(rawValue: try reader.byte()) ?? .unspecified
            return .goodbye(
                code: code, message: try reader.string(limit: WireLimits.reasonBytesMax, "reasonBytesMax"))
        case FrameType.proofs:
            return .proofs(try ProofCodec.decode(&reader, replicas))
        case AttachmentCodec.types:
            return .attachment(try AttachmentCodec.decode(type, &reader))
        default:
            throw .unsupported("frame type \(type)")
        }
    }
}

// MARK: - The replica table

extension FrameCodec {
    private static func assemble(_ type: UInt8, _ replicas: ReplicaTable, _ body: ByteWriter) -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: body.count + replicas.ids.count * ReplicaID.byteCount + 5)
        if body.bases != nil { writer.byte(FrameType.differences) }
        writer.byte(type)
        writer.count(replicas.ids.count)
        for id in replicas.ids { writer.identifier(id) }
        writer.raw(body.bytes)
        return writer.bytes
    }

    private static func replicaTable(_ reader: inout ByteReader) throws(WireError) -> ReplicaTable {
        let count = try reader.count(
            eachBytes: ReplicaID.byteCount, limit: WireLimits.replicasMax, "replicasMax")
        var table = ReplicaTable()
        for index in 0..<count {
            guard table.number(of: try reader.identifier()) == index else { throw .malformed("replica named twice") }
        }
        return table
    }

    private static func neighbours(
        _ reader: inout ByteReader, _ replicas: ReplicaTable
    ) throws(WireError) -> [ReplicaID] {
        let count = try reader.count(limit: WireLimits.neighboursMax, "neighboursMax")
        var result: [ReplicaID] = []
        for _ in 0..<count { result.append(try reader.replica(replicas)) }
        return result
    }
}

// MARK: - Household

extension FrameCodec {
    /// The rest of the frame, behind an empty table of replicas.
    private static func household(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        _ = try replicaTable(&reader)
        guard reader.remaining <= WireLimits.householdBytesMax else { throw .limitExceeded("householdBytesMax") }
        return try reader.raw(reader.remaining)
    }
}

// MARK: - Hello, pulse, resumption

extension FrameCodec {
    private static func encode(_ hello: Hello, to writer: inout ByteWriter, _ replicas: inout ReplicaTable) {
        writer.varint(hello.versions.newest)
        writer.varint(hello.versions.oldest)
        writer.count(replicas.number(of: hello.replica))
        writer.string(hello.app, bytesMax: AppID.bytesMax)
        writer.blob(hello.group)
        writer.string(hello.software, bytesMax: WireLimits.softwareBytesMax)
        writer.varint(hello.capabilities.rawValue)
        writer.milliseconds(hello.wallClockMilliseconds)
        writer.fixed64(hello.clock.rawValue)
        writer.heads(hello.heads, &replicas)
        writer.durable(hello.durable, of: hello.vector, &replicas)
        encode(hello.resumption, to: &writer, &replicas)
        guard let hash = hello.headsHash else { return }
        writer.byte(HelloFlag.hash | (hello.saysMore ? HelloFlag.more : 0))
        writer.raw(hash.bytes)
    }

    private enum HelloFlag {
        static let hash: UInt8 = 1
        static let more: UInt8 = 2
    }

    private static func hello(_ reader: inout ByteReader, _ replicas: ReplicaTable) throws(WireError) -> Hello {
        let newest = try reader.varint()
        let versions = ProtocolVersions(newest: newest, oldest: try reader.varint())
        guard versions.oldest <= versions.newest else { throw .malformed("versions") }
        var hello = Hello(
            versions: versions,
            replica: try reader.replica(replicas),
            app: try reader.string(limit: AppID.bytesMax, "appBytesMax"),
            group: try reader.blob(limit: WireLimits.groupBytesMax, "groupBytesMax"),
            software: try reader.string(limit: WireLimits.softwareBytesMax, "softwareBytesMax"),
            capabilities: Capabilities(rawValue: try reader.varint()),
            wallClockMilliseconds: try reader.milliseconds(),
            clock: try reader.timestamp(),
            heads: try reader.heads(replicas), durable: VersionVector(), resumption: nil)
        hello.durable = try reader.durable(of: hello.vector, replicas)
        hello.resumption = try resumption(&reader, replicas)
        let flags = reader.remaining > 0 ? try reader.byte() : 0
        guard flags & HelloFlag.hash != 0 else { return hello }
        guard hello.heads.isEmpty, hello.durable.isEmpty, hello.resumption == nil else { throw .malformed("heads beside their hash") }
        hello.headsHash = HeadsHash(bytes: try reader.raw(HeadsHash.byteCount))
        hello.saysMore = flags & HelloFlag.more != 0
        return hello
    }

    private enum HeadsKind {
        static let all: UInt8 = 0
        static let newest: UInt8 = 1
        static let rest: UInt8 = 2
    }

    private static func encode(_ message: HeadsMessage, to writer: inout ByteWriter, _ replicas: inout ReplicaTable) {
        switch message {
        case .all(let knowledge):
            writer.byte(HeadsKind.all)
            writer.knowledge(knowledge.heads, &replicas)
            encodeMore(of: knowledge, to: &writer, &replicas)
        case .newest(let knowledge):
            writer.byte(HeadsKind.newest)
            writer.heads(knowledge.heads, &replicas)
            encodeMore(of: knowledge, to: &writer, &replicas)
        case .rest(let heads, let hash):
            writer.byte(HeadsKind.rest)
            writer.heads(heads, &replicas)
            writer.raw(hash.bytes)
        }
    }

    private static func headsMessage(_ reader: inout ByteReader, _ replicas: ReplicaTable) throws(WireError) -> HeadsMessage {
        let kind = try reader.byte()
        let heads = kind == HeadsKind.all ? try reader.knownHeads(replicas) : try reader.heads(replicas)
        guard kind == HeadsKind.all || heads.count <= WireLimits.newestHeadsMax else { throw .limitExceeded("newestHeadsMax") }
        switch kind {
        case HeadsKind.all, HeadsKind.newest:
            var knowledge = Knowledge(heads: heads)
            switch try reader.byte() {
            case 0: break
            case 1: knowledge.durable = try reader.knowledge(replicas)
            default: throw .malformed("durable")
            }
            knowledge.resumption = try resumption(&reader, replicas)
            return kind == HeadsKind.all ? .all(knowledge) : .newest(knowledge)
        case HeadsKind.rest:
            return .rest(heads, HeadsHash(bytes: try reader.raw(HeadsHash.byteCount)))
        default:
            throw .malformed("heads")
        }
    }

    private static func encodeMore(of knowledge: Knowledge, to writer: inout ByteWriter, _ replicas: inout ReplicaTable) {
        writer.byte(knowledge.durable == nil ? 0 : 1)
        if let durable = knowledge.durable { writer.knowledge(durable, &replicas) }
        encode(knowledge.resumption, to: &writer, &replicas)
    }

    private static func encode(_ pulse: Pulse, to writer: inout ByteWriter, _ replicas: inout ReplicaTable) {
        writer.fixed64(pulse.nonce)
        writer.milliseconds(pulse.wallClockMilliseconds)
        writer.knowledge(pulse.vector, &replicas)
        writer.durable(pulse.durable, of: pulse.vector, &replicas)
    }

    private static func pulse(_ reader: inout ByteReader, _ replicas: ReplicaTable) throws(WireError) -> Pulse {
        var pulse = Pulse(
            nonce: try reader.fixed64(), wallClockMilliseconds: try reader.milliseconds(), vector: try reader.knowledge(replicas),
            durable: VersionVector())
        pulse.durable = try reader.durable(of: pulse.vector, replicas)
        return pulse
    }

    private static func encode(
        _ resumption: Resumption?, to writer: inout ByteWriter, _ replicas: inout ReplicaTable
    ) {
        writer.byte(resumption == nil ? 0 : 1)
        guard let resumption else { return }
        writer.position(resumption.position)
        writer.knowledge(resumption.vector, &replicas)
    }

    private static func resumption(
        _ reader: inout ByteReader, _ replicas: ReplicaTable
    ) throws(WireError) -> Resumption? {
        switch try reader.byte() {
        case 0: nil
        case 1: Resumption(position: try reader.position(), vector: try reader.knowledge(replicas))
        default: throw .malformed("resumption")
        }
    }
}
