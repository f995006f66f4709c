import KithCausality
import KithSync

/// Makes, from a frame that a member meant, one that a member might send who means ill: in good form, and false.
struct Forger {
    var random: SplitMix64

    /// The frame's bytes with one to three of the things it says changed; as they were if it says nothing that can be.
    mutating func forge(_ bytes: [UInt8]) -> [UInt8] {
        guard var frame = try? FrameCodec.decode(bytes) else { return bytes }
        for _ in 0..<random.int(in: 1...3) { frame = forged(frame) }
        return FrameCodec.encode(frame)
    }

    private mutating func forged(_ frame: Frame) -> Frame {
        switch frame {
        case .hello(var hello):
            switch random.int(in: 0...4) {
            case 0: forge(&hello.heads)
            case 1: hello.durable = forged(hello.durable)
            case 2: hello.replica = hello.heads.first?.dot.replica ?? hello.replica
            case 3: hello.resumption = forged(hello.resumption)
            default: hello.clock = timestamp()
            }
            return .hello(hello)
        case .slice(var slice, let alsoSentTo):
            forge(&slice)
            return .slice(slice, alsoSentTo: alsoSentTo)
        case .acknowledge(var acknowledgement):
            acknowledgement.slices &+= UInt64(random.int(in: 0...2))
            acknowledgement.durable = forged(acknowledgement.durable)
            return .acknowledge(acknowledgement)
        case .want(var want):
            want.since = forged(want.since)
            want.resumption = forged(want.resumption)
            want.slices &+= UInt64(random.int(in: 0...2))
            return .want(want)
        case .ping(var pulse):
            pulse.vector = forged(pulse.vector)
            return .ping(pulse)
        case .pong(var pulse):
            pulse.vector = forged(pulse.vector)
            pulse.nonce &+= UInt64(random.int(in: 0...1))
            return .pong(pulse)
        case .digestRows(let range, var slice):
            forge(&slice)
            return .digestRows(range, slice)
        case .digest(let digest, let wantsAnswer):
            return .digest(digest, wantsAnswer: !wantsAnswer)
        case .digestQuestion(let vector, let range, let wantsRows):
            return .digestQuestion(forged(vector), range, wantsRows: !wantsRows)
        case .digestParts(let vector, let range, let parts):
            return .digestParts(forged(vector), range, Array(parts.dropLast()))
        case .proofs(let offers):
            return .proofs(offers.map { forged($0) })
        case .household(var bytes):
            guard bytes.count > 1 else { return frame }
            bytes[random.int(in: 1...bytes.count - 1)] ^= 1 << UInt8(random.int(in: 0...7))
            return .household(bytes)
        case .attachment, .goodbye, .heads:
            return frame
        }
    }

    private mutating func forged(_ offer: ProofOffer) -> ProofOffer {
        let dot = Dot(replica: offer.head.dot.replica, sequence: forged(offer.head.dot.sequence))
        let head = Head(dot: dot, timestamp: random.chance(percent: 50) ? offer.head.timestamp : timestamp())
        return ProofOffer(head: head, origin: random.chance(percent: 50) ? offer.origin : nil, signature: offer.signature)
    }

    private mutating func forge(_ slice: inout Slice) {
        switch random.int(in: 0...10) {
        case 0: slice.since = forged(slice.since)
        case 1: slice.vector = forged(slice.vector)
        case 2: forge(&slice.target)
        case 3: slice.clock = timestamp()
        case 4: slice.isLast.toggle()
        case 5: slice.isFirst.toggle()
        case 6: if !slice.rows.isEmpty { slice.rows.remove(at: random.int(in: 0...slice.rows.count - 1)) }
        case 7: if let row = random.pick(slice.rows) { slice.rows.append(row) }
        case 8: slice.position = forged(slice.position)
        default:
            guard !slice.rows.isEmpty else { return }
            forge(&slice.rows[random.int(in: 0...slice.rows.count - 1)])
        }
    }

    private mutating func forge(_ row: inout RowPart) {
        switch random.int(in: 0...7) {
        case 0: row.id = RowID(high: random.next(), low: random.next())
        case 1: row.isCut.toggle()
        case 2: row.state.context = forged(row.state.context)
        case 3: if !row.state.tombstones.isEmpty { row.state.tombstones.removeLast() }
        case 4: if !row.state.cells.isEmpty { row.state.cells.remove(at: random.int(in: 0...row.state.cells.count - 1)) }
        default:
            guard !row.state.cells.isEmpty else { return }
            forge(&row.state.cells[random.int(in: 0...row.state.cells.count - 1)].cell)
        }
    }

    private mutating func forge(_ cell: inout Cell) {
        switch cell {
        case .register(var state):
            guard !state.writes.isEmpty else { return }
            let index = random.int(in: 0...state.writes.count - 1)
            switch random.int(in: 0...2) {
            case 0: state.writes[index].value = random.pick([.null, .integer(.min), .text([0xff]), .blob([])]) ?? .null
            case 1: state.writes[index].stamp = forged(state.writes[index].stamp)
            default: state.writes.append(Write(stamp: forged(state.writes[index].stamp), value: .real(0)))
            }
            cell = .register(state)
        case .set(var state):
            switch random.int(in: 0...2) {
            case 0: state.touched = forged(state.touched)
            case 1: state.elements.append(SetState.Element(json: Array("{\"a\": [".utf8), dots: state.touched.entries))
            default: if !state.elements.isEmpty { state.elements.removeLast() }
            }
            cell = .set(state)
        case .counter(var state):
            guard !state.totals.isEmpty else { return }
            let index = random.int(in: 0...state.totals.count - 1)
            if random.chance(percent: 50) { state.totals[index].amount = .max } else { state.totals.append(state.totals[index]) }
            cell = .counter(state)
        case .text(var state):
            forge(&state)
            cell = .text(state)
        }
    }

    private mutating func forge(_ text: inout TextState) {
        guard !text.changes.isEmpty else { return text.text = text.text == nil ? Array("forged".utf8) : nil }
        let index = random.int(in: 0...text.changes.count - 1)
        switch random.int(in: 0...5) {
        case 0: text.changes[index].stamp = forged(text.changes[index].stamp)
        case 1: text.changes[index].parents = forged(VersionVector(text.changes[index].parents)).entries
        case 2: text.changes[index].steps += [UInt8](repeating: UInt8(random.int(in: 0...255)), count: random.int(in: 1...3))
        case 3: text.changes[index].inserted.removeLast(min(text.changes[index].inserted.count, 1))
        case 4: text.changes.remove(at: index)
        default: text.present = forged(VersionVector(text.present)).entries
        }
    }

    private mutating func forged(_ stamp: Stamp) -> Stamp {
        Stamp(dot: Dot(replica: stamp.dot.replica, sequence: forged(stamp.dot.sequence)), timestamp: timestamp())
    }

    private mutating func forged(_ position: SlicePosition?) -> SlicePosition? {
        let table = position?.table ?? Array("note".utf8)
        let row = random.chance(percent: 50) ? RowID(high: .max, low: .max) : RowID(high: 0, low: 0)
        return random.chance(percent: 20) ? nil : SlicePosition(table: table, row: row)
    }

    private mutating func forged(_ resumption: Resumption?) -> Resumption? {
        guard let position = forged(resumption?.position) else { return nil }
        let vector = resumption?.vector ?? VersionVector([Dot(replica: ReplicaID(high: 1, low: random.next()), sequence: 1)])
        return Resumption(position: position, vector: forged(vector))
    }

    private mutating func forge(_ heads: inout [Head]) {
        guard !heads.isEmpty else { return }
        let index = random.int(in: 0...heads.count - 1)
        let dot = heads[index].dot
        heads[index] = Head(dot: Dot(replica: dot.replica, sequence: forged(dot.sequence)), timestamp: timestamp())
    }

    private mutating func forged(_ vector: VersionVector) -> VersionVector {
        VersionVector(
            vector.entries.compactMap { dot in
                random.chance(percent: 20) ? nil : Dot(replica: dot.replica, sequence: forged(dot.sequence))
            })
    }

    /// Another number, often an extreme one; never 0, which no commit has.
    private mutating func forged(_ sequence: UInt64) -> UInt64 {
        switch random.int(in: 0...4) {
        case 0: UInt64(Int64.max)
        case 1: 1
        case 2: sequence &+ 1
        default: sequence
        }
    }

    private mutating func timestamp() -> HybridTimestamp {
        random.pick([.zero, HybridTimestamp(rawValue: HybridTimestamp.limit.rawValue - 1), HybridTimestamp(milliseconds: 1)]) ?? .zero
    }
}
