import KithCausality
import KithSync

extension Simulation {
    func isOpen(_ end: EndID) -> Bool {
        links[end.link].epoch == end.epoch && links[end.link].ends[end.side] != nil
    }

    func node(of end: EndID) -> SimulatedNode { nodes[links[end.link].nodes[end.side]] }

    /// The open ends of a node's connections.
    func ends(of node: SimulatedNode) -> [EndID] {
        linksOfNode[node.index].map { end(of: node, $0) }.filter(isOpen)
    }

    /// A node's end of a link, open or not.
    func end(of node: SimulatedNode, _ link: Int) -> EndID {
        EndID(link: link, side: links[link].nodes[0] == node.index ? 0 : 1, epoch: links[link].epoch)
    }

    func latency() -> Int64 { random.int64(in: script.conditions.latencyMilliseconds) }

    // MARK: Connections

    /// The connection is lost. Of the bytes under way those up to any one arrive.
    func breakConnection(_ link: Int) throws {
        for side in 0...1 {
            let end = EndID(link: link, side: side, epoch: links[link].epoch)
            let bytes = links[link].ends[side]?.inbound.reduce(0) { $0 + $1.wire.count } ?? 0
            try receive(random.int(in: 0...bytes), end)
        }
        // What was sent in answer is lost, too: nothing arrives behind a gap.
        for side in 0...1 { links[link].ends[side]?.inbound = [] }
        let first = random.int(in: 0...1)
        let epoch = links[link].epoch
        try hangUp(EndID(link: link, side: first, epoch: epoch))
        plan(.hangUp(EndID(link: link, side: 1 - first, epoch: epoch)), at: now + latency())
    }

    /// A side learns that the connection is gone, or closes it.
    func hangUp(_ end: EndID) throws {
        guard isOpen(end) else { return }
        if links[end.link].ends[end.side]?.inbound.isEmpty == false {
            links[end.link].ends[end.side]?.isHangingUp = true
            return
        }
        try close(end)
    }

    func close(_ end: EndID, _ reason: CloseReason? = nil) throws {
        forget(end, reason)
        guard isOpen(end.other) else { return }
        let arrival = links[end.link].ends[end.other.side]?.lastArrival ?? now
        plan(.hangUp(end.other), at: max(now + latency(), arrival))
    }

    // MARK: Frames

    func send(_ bytes: [UInt8], from end: EndID) throws {
        statistics.frames += 1
        let isUnderstood = links[end.link].ends[end.side]?.session.capabilities.contains(.compression) == true
        let compressed = links[end.link].ends[end.side]?.outgoing.compress(bytes, isUnderstood: isUnderstood) ?? bytes
        statistics.bytes += compressed.count
        guard isOpen(end.other) else { return }
        try checkMeeting(end)
        try noteSent(bytes, end)
        let plain = plain(bytes, end)
        let lies = try lies(aheadOf: plain, end)
        let frame = FrameUnderWay(bytes: bytes, plain: plain, compressed: compressed, altered: try altered(plain, end), lies: lies)
        let transmission = Int64(bytes.count) * 1_000 / Int64(script.conditions.bytesPerSecond)
        let arrival =
            max(now + latency() + links[end.link].delays[end.side], links[end.link].ends[end.other.side]?.lastArrival ?? now) + transmission
        links[end.link].ends[end.other.side]?.lastArrival = arrival
        if links[end.link].ends[end.other.side]?.isBroken == false { links[end.link].ends[end.other.side]?.inbound.append(frame) }
        try checkQueue(end.other)
        plan(.arrive(end.other), at: arrival)
    }

    /// A frame is in, unless the way is clogged; then it waits until that ends.
    func arrive(_ end: EndID) throws {
        guard isOpen(end), !links[end.link].isClogged[end.other.side] else { return }
        try receiveFirst(end)
    }

    /// The last bytes of a connection that is lost arrive: whole frames, and the beginning of one, which is none.
    private func receive(_ bytesMax: Int, _ end: EndID) throws {
        if links[end.link].ends[end.side]?.isBroken == true { return }
        defer { if isOpen(end) { links[end.link].ends[end.side]?.isBroken = true } }
        var rest = bytesMax
        while isOpen(end), !links[end.link].isClogged[end.other.side], let frame = links[end.link].ends[end.side]?.inbound.first {
            guard frame.wire.count <= rest else {
                if rest > 0 { statistics.framesTorn += 1 }
                guard decode(frame.wire.prefix(rest), end) == .needsMore else {
                    throw Violation(.wrongState, "\(node(of: end).name) takes the first \(rest) bytes of a frame for one.")
                }
                links[end.link].ends[end.side]?.inbound = []
                return
            }
            rest -= frame.wire.count
            try receiveFirst(end)
        }
    }

    private func receiveFirst(_ end: EndID) throws {
        guard let frame = links[end.link].ends[end.side]?.inbound.first else { return }
        links[end.link].ends[end.side]?.inbound.removeFirst()
        guard case .frame(let compressed) = decode(frame.wire[...], end),
            (try? links[end.link].ends[end.side]?.incoming.decompress(compressed)) == frame.bytes
        else {
            throw Violation(.wrongState, "A frame to \(node(of: end).name) is another one when it arrives.")
        }
        if !frame.lies.isEmpty { noteLie(frame.lies, end) }
        if let altered = frame.altered { noteAlteration(of: frame.plain, to: altered, end) }
        for bytes in frame.lies where isOpen(end) { try deliver(bytes, bytes, end) }
        if isOpen(end) { try deliver(frame.altered ?? frame.bytes, frame.altered ?? frame.plain, end) }
        if let rest = links[end.link].ends[end.side], rest.isHangingUp, rest.inbound.isEmpty, isOpen(end) { try close(end) }
    }

    /// A frame with its vectors spelled out.
    private func plain(_ bytes: [UInt8], _ end: EndID) -> [UInt8] {
        guard bytes.first != bytes.frameType, let bases = links[end.link].ends[end.side]?.session.bases,
            let frame = try? FrameCodec.decode(bytes, bases)
        else { return bytes }
        return FrameCodec.encode(frame)
    }

    private func deliver(_ bytes: [UInt8], _ plain: [UInt8], _ end: EndID) throws {
        links[end.link].ends[end.side]?.window.received(plain)
        trace.mix(UInt8(end.side))
        trace.mix(end.link)
        trace.mix(UInt64(bitPattern: now))
        trace.mix(bytes)
        trace.note(now, "\(node(of: end.other).name)→\(node(of: end).name)  \(describe(plain))")
        try handle(.received(bytes), end)
    }

    /// Puts bytes of the stream together to a frame.
    private func decode(_ bytes: ArraySlice<UInt8>, _ end: EndID) -> FrameDecoder.Step? {
        bytes.withUnsafeBytes { bytes in
            var input = bytes[...]
            let step = links[end.link].ends[end.side]?.decoder.next(from: &input, limit: WireLimits.frameBytesMax)
            return input.isEmpty ? step : nil
        }
    }

    /// The way is free again: what waited arrives now, in order.
    func unclog(_ link: Int, side: Int) throws {
        links[link].isClogged[side] = false
        let end = EndID(link: link, side: 1 - side, epoch: links[link].epoch)
        for _ in 0..<(links[link].ends[end.side]?.inbound.count ?? 0) { plan(.arrive(end), at: now) }
    }

    // MARK: False frames

    /// What arrives in the place of a frame, if this is one to be damaged or replaced.
    private func altered(_ bytes: [UInt8], _ end: EndID) throws -> [UInt8]? {
        var altered = bytes
        // What is said of differences afterwards would be another lie than is accounted for.
        if headsSpelledMax == 0, bytes.frameType == 1 || bytes.frameType == 10 { return nil }
        if links[end.link].lies[end.side] > 0, case .hello(let hello) = try? FrameCodec.decode(bytes) {
            guard var liar = try liar(end), hostility.chance(percent: 50) else { return nil }
            links[end.link].lies[end.side] -= 1
            note(.forgery)
            return FrameCodec.encode(.hello(liar.hello(hello)))
        }
        if links[end.link].damages[end.side] > 0 {
            links[end.link].damages[end.side] -= 1
            damage(&altered)
            if altered != bytes { note(.damage) }
        } else if links[end.link].forgeries[end.side] > 0 {
            var forger = Forger(random: SplitMix64(seed: hostility.next()))
            altered = forger.forge(bytes)
            // A frame that says nothing that could be false leaves the forger waiting for the next one.
            if altered != bytes {
                note(.forgery)
                links[end.link].forgeries[end.side] -= 1
            }
        }
        return altered == bytes ? nil : altered
    }

    /// What cannot be read must be refused, and changes nothing; what says something else than was meant may be believed.
    private func noteAlteration(of bytes: [UInt8], to altered: [UInt8], _ end: EndID) {
        statistics.framesAltered += 1
        links[end.link].damagedEpoch = end.epoch
        do {
            // One of an unknown kind is passed over, and so a frame is lost, which no transport does.
            let (told, meant) = try (FrameCodec.decode(altered), FrameCodec.decode(bytes))
            if told == meant { return }
            noteForged(told, insteadOf: meant)
            taint.insert(told, insteadOf: meant, ledger)
            links[end.link].liedEpoch = end.epoch
        } catch {
            trace.note(now, "\(node(of: end).name) is sent what cannot be read")
        }
    }

    private func damage(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        for _ in 0..<hostility.int(in: 1...3) {
            switch hostility.int(in: 0...3) {
            case 0: bytes[hostility.int(in: 0...bytes.count - 1)] = UInt8(hostility.int(in: 0...255))
            case 1: bytes[hostility.int(in: 0...bytes.count - 1)] ^= 1 << UInt8(hostility.int(in: 0...7))
            case 2: bytes.removeLast(hostility.int(in: 0...bytes.count - 1))
            default: bytes.insert(UInt8(hostility.int(in: 0...255)), at: hostility.int(in: 0...bytes.count - 1))
            }
        }
    }

    /// What a sender may have under way: the slices of its window, and little beside.
    private func checkQueue(_ end: EndID) throws {
        // Whoever is told that more was dealt with than was may send more.
        if links[end.link].liedEpoch == end.epoch { return }
        guard let inbound = links[end.link].ends[end.side]?.inbound, inbound.count > WireLimits.slicesInFlightMax else { return }
        let slices = inbound.count { SliceWindow.isSlice($0.bytes) }
        guard slices <= WireLimits.slicesInFlightMax, inbound.count <= Self.framesInFlightMax else {
            throw Violation(.queueTooLong, "\(inbound.count) frames, \(slices) of them slices, are under way to \(node(of: end).name).")
        }
    }

    /// More frames than this are never under way in one direction of a session.
    static let framesInFlightMax = 256

    func describe(_ bytes: [UInt8]) -> String {
        switch try? FrameCodec.decode(bytes) {
        case .hello(let hello): return hello.headsHash == nil ? "hello \(hello.vector)" : "hello, with a hash"
        case .heads(.all(let knowledge)): return "all heads, \(knowledge.heads.count)"
        case .heads(.newest(let knowledge)): return "newest heads, \(knowledge.heads.count)"
        case .heads(.rest(let heads, _)): return "\(heads.count) other heads, and the hash of the rest"
        case .slice(let slice, _):
            return "slice \(slice.since) → \(slice.vector), \(slice.rows.count) rows\(slice.isLast ? "" : ", more to come")"
        case .acknowledge(let acknowledgement): return "acknowledge \(acknowledgement.slices)"
        case .want(let want): return "want since \(want.since)"
        case .ping: return "ping"
        case .pong: return "pong"
        case .proofs(let offers): return "proofs of \(offers.map(\.head.dot))"
        case .attachment: return "about an attachment"
        case .household(let bytes): return "household, \(bytes.count) bytes"
        case .digest(let digest, _): return "digest of \(digest.rows.count) rows at \(digest.vector)"
        case .digestQuestion(let vector, _, let wantsRows): return "digest question at \(vector)\(wantsRows ? ", for rows" : "")"
        case .digestParts(_, _, let parts): return "digest of \(parts.count) parts"
        case .digestRows(_, let slice): return "digest rows, \(slice.rows.count)"
        case .goodbye(let code, let message): return "goodbye (\(code)): \(message)"
        case nil: return "\(bytes.count) bytes that are no frame of a known kind"
        }
    }
}
