import KithCausality
import KithSync
import Testing

/// Risk: a peer that sends too much or asks too often costs memory without bound, or a refused slice stops everything.
@Suite struct FlowTests {
    private let dot = Dot(replica: SessionProbe.own, sequence: 1)

    /// A session whose store has one commit more than the peer, and its answer to the first read.
    private func sending(slices: Int = 10, peerKnows heads: [Head] = []) -> (SessionProbe, [PeerSession.Effect]) {
        var probe = SessionProbe()
        probe.store.sliceRowsMax = 1
        probe.store.commit(
            now: 1, (0..<slices).map { Operation(row: RowID(high: 0, low: UInt64($0)), change: .insert(x: 1, tags: [], count: 0)) })
        let effects = probe.open(with: probe.hello(heads))
        return (probe, effects)
    }

    /// Answers reads until the session asks for no more. Returns the slices sent.
    private func answerReads(_ probe: inout SessionProbe, _ effects: [PeerSession.Effect]) -> [Slice] {
        var sent: [Slice] = []
        var effects = effects
        while let request = effects.reads.first {
            effects = probe.handle(.sliceRead(probe.store.read(request)))
            for case .slice(let slice, _) in effects.frames { sent.append(slice) }
        }
        return sent
    }

    @Test func `at most slicesInFlightMax slices are sent without an acknowledgement`() {
        var (probe, effects) = sending()
        #expect(answerReads(&probe, effects).count == WireLimits.slicesInFlightMax)
        effects = probe.receive(.acknowledge(Acknowledgement(slices: 2, durable: VersionVector())))
        #expect(answerReads(&probe, effects).count == 2)
    }

    @Test func `a peer may send slicesInFlightMax slices ahead, one more is a protocol error`() {
        var probe = SessionProbe()
        _ = probe.open()
        for number in 1...WireLimits.slicesInFlightMax {
            let effects = probe.receive(.slice(SessionProbe.slice(number, of: 9), alsoSentTo: []))
            #expect(effects.closeReason == nil)
            // One is applied at a time.
            #expect(effects.applies.count == (number == 1 ? 1 : 0))
        }
        let past = Frame.slice(SessionProbe.slice(WireLimits.slicesInFlightMax + 1, of: 9), alsoSentTo: [])
        #expect(probe.receive(past).goodbye == .protocolError)
    }

    @Test func `the beginning of a row is no row in what is counted`() {
        var probe = SessionProbe()
        _ = probe.open()
        let stamp = Stamp(dot: Dot(replica: SessionProbe.peer, sequence: 1), timestamp: .zero)
        let text = TextState(
            touched: VersionVector([stamp.dot]), changes: [TextState.Change(stamp: stamp, parents: [], steps: [1, 0], inserted: [])])
        var counted: [UInt64] = []
        for number in 1...3 {
            var slice = SessionProbe.slice(number, of: 4)
            slice.tables = [TableSchema(name: Array("things".utf8), columns: [ColumnKey("body", .text)])]
            let id = RowID(high: 0, low: 9)
            var part = RowPart(table: 0, id: id, state: RowState(cells: [RowState.Entry(column: 0, cell: .text(text))]))
            part.isPrelude = number < 3
            slice.rows = [part]
            let position = part.position(in: slice.tables)
            slice.position = part.isPrelude ? position.predecessor : position
            #expect(probe.receive(.slice(slice, alsoSentTo: [])).closeReason == nil)
            for case .peer(let status) in probe.handle(.applied(.applied(probe.store.summary))) {
                counted.append(status.rowsReceived)
                #expect(status.receiving?.rows == Int(status.rowsReceived))
            }
        }
        #expect(counted.last == 1 && !counted.contains { $0 > 1 })
    }

    private func padded(_ number: Int, bytes: Int) -> [UInt8] {
        let bytesOfSlice = FrameCodec.encode(.slice(SessionProbe.slice(number, of: 9), alsoSentTo: []))
        return bytesOfSlice + [UInt8](repeating: 0, count: bytes - bytesOfSlice.count)
    }

    @Test func `slices ahead have at most sliceBytesInFlightMax bytes together, a single one may have more`() {
        let limit = WireLimits.sliceBytesInFlightMax
        var probe = SessionProbe()
        _ = probe.open()
        #expect(probe.handle(.received(padded(1, bytes: limit / 2))).closeReason == nil)
        var past = probe
        #expect(probe.handle(.received(padded(2, bytes: limit / 2))).closeReason == nil)
        #expect(past.handle(.received(padded(2, bytes: limit / 2 + 1))).goodbye == .protocolError)
        var single = SessionProbe()
        _ = single.open()
        #expect(single.handle(.received(padded(1, bytes: limit + 1))).closeReason == nil)
    }

    @Test func `a large slice waits until the window has room for its bytes`() {
        var (probe, effects) = sending()
        func large(_ request: SliceRequest, _ bytes: Int) -> Slice? {
            var slice = probe.store.read(request)
            slice?.rows[0].state[0] = .register(
                RegisterState(writes: [Write(stamp: Stamp(dot: dot, timestamp: .zero), value: .blob([UInt8](repeating: 0, count: bytes)))]))
            return slice
        }
        guard let first = effects.reads.first else { return }
        effects = probe.handle(.sliceRead(large(first, 20 << 20)))
        #expect(effects.frames.count == 1)
        guard let second = effects.reads.first else { return }
        effects = probe.handle(.sliceRead(large(second, 20 << 20)))
        #expect(effects.frames.isEmpty)
        #expect(effects.reads.isEmpty)
        effects = probe.receive(.acknowledge(Acknowledgement(slices: 1, durable: VersionVector())))
        #expect(effects.frames.count == 1)
        #expect(effects.reads.count == 1)
    }

    @Test func `a row too large to send is left out of the delta, which begins anew`() {
        func send(_ change: (inout RowState) -> Void) -> (probe: SessionProbe, effects: [PeerSession.Effect])? {
            var (probe, effects) = sending()
            guard let request = effects.reads.first, var slice = probe.store.read(request) else { return nil }
            change(&slice.rows[0].state)
            effects = probe.handle(.sliceRead(slice))
            return (probe, effects)
        }
        func values(_ count: Int, bytes: Int) -> (probe: SessionProbe, effects: [PeerSession.Effect])? {
            let value = ColumnValue.blob([UInt8](repeating: 0, count: bytes))
            let write = Write(stamp: Stamp(dot: dot, timestamp: .zero), value: value)
            return send { for column in 0..<count { $0[column] = .register(RegisterState(writes: [write])) } }
        }
        func set(_ count: Int) -> (probe: SessionProbe, effects: [PeerSession.Effect])? {
            let elements = (0..<count).map { SetState.Element(json: [UInt8(truncatingIfNeeded: $0)], dots: [dot]) }
            return send { $0[ModelColumn.tags] = .set(SetState(elements: elements, touched: VersionVector([dot]))) }
        }
        for fits in [values(2, bytes: WireLimits.frameBytesMax / 2 - 1_000), set(WireLimits.setElementsMax)] {
            #expect(fits?.effects.closeReason == nil)
            #expect(fits?.effects.reads.allSatisfy(\.withheld.isEmpty) == true)
        }
        let position = SlicePosition(table: Array("things".utf8), row: RowID(high: 0, low: 0))
        for tooLarge in [
            values(2, bytes: WireLimits.frameBytesMax / 2), values(1, bytes: WireLimits.valueBytesMax + 1),
            set(WireLimits.setElementsMax + 1),
        ] {
            #expect(tooLarge?.effects.frames.isEmpty == true)
            #expect(tooLarge?.effects.closeReason == nil)
            let request = tooLarge?.effects.reads.first
            #expect(request?.withheld == [position])
            #expect(request?.after == nil && request?.target == nil)
        }
    }

    /// Meanwhile the store has collected deletions that the peer has not seen, or was told that others have.
    @Test func `a delta of which the store finds in the middle that the peer needs all begins anew`() throws {
        var (probe, effects) = sending(peerKnows: [Head(dot: Dot(replica: SessionProbe.peer, sequence: 1), timestamp: .zero)])
        let since = try #require(effects.reads.first?.since)
        #expect(!since.isEmpty)
        effects = probe.handle(.sliceRead(probe.store.read(try #require(effects.reads.first))))
        let later = try #require(effects.reads.first)
        var slice = try #require(probe.store.read(later))
        (slice.since, slice.isFirst) = (VersionVector(), false)
        effects = probe.handle(.sliceRead(slice))
        #expect(effects.frames.isEmpty && effects.closeReason == nil)
        #expect(effects.reads == [SliceRequest(since: since)])
    }

    @Test func `a store that brings a row again that is too large ends the session, which names the row and the limit`() {
        var (probe, effects) = sending()
        let value = ColumnValue.blob([UInt8](repeating: 0, count: WireLimits.valueBytesMax + 1))
        for _ in 0...64 {
            guard let request = effects.reads.first, var slice = probe.store.read(request) else { return #expect(Bool(false)) }
            slice.rows[0].state[0] = .register(RegisterState(writes: [Write(stamp: Stamp(dot: dot, timestamp: .zero), value: value)]))
            effects = probe.handle(.sliceRead(slice))
        }
        #expect(effects.closeReason?.code == .tooLarge)
        #expect(effects.closeReason?.message.contains("row 00000000000000000000000000000000 of things") == true)
        #expect(effects.closeReason?.message.contains("valueBytesMax") == true)
    }

    @Test func `texts are sent to those who understand them only`() {
        func send(capabilities: Capabilities) -> [PeerSession.Effect] {
            var probe = SessionProbe()
            probe.store.commit(now: 1, [Operation(row: RowID(high: 0, low: 0), change: .insert(x: 1, tags: [], count: 0))])
            var hello = probe.hello()
            hello.capabilities = capabilities
            guard let request = probe.open(with: hello).reads.first, var slice = probe.store.read(request) else { return [] }
            slice.tables[0].columns.append(ColumnKey("body", .text))
            return probe.handle(.sliceRead(slice))
        }
        #expect(send(capabilities: []).closeReason?.code == .unsupportedVersion)
        #expect(send(capabilities: .attachments).closeReason?.code == .unsupportedVersion)
        #expect(send(capabilities: .texts).frames.count == 1)
    }

    @Test func `slices that do not follow each other are a protocol error`() {
        let first = SessionProbe.slice(1, of: 3)
        var backwards = SessionProbe.slice(2, of: 3)
        backwards.position = first.position
        var otherSince = SessionProbe.slice(2, of: 3)
        otherSince.since = VersionVector([dot])
        var endless = SessionProbe.slice(2, of: 3)
        endless.position = nil
        for wrong in [[SessionProbe.slice(2, of: 3)], [first, backwards], [first, otherSince], [first, endless]] {
            var probe = SessionProbe()
            _ = probe.open()
            var last: [PeerSession.Effect] = []
            for slice in wrong { last = probe.receive(.slice(slice, alsoSentTo: [])) }
            #expect(last.goodbye == .protocolError)
        }
    }

    @Test func `a slice the store refuses is answered with what the store really knows, and the rest of its delta is dropped`() {
        var probe = SessionProbe()
        _ = probe.open()
        for number in 1...3 { _ = probe.receive(.slice(SessionProbe.slice(number, of: 5), alsoSentTo: [])) }
        let effects = probe.handle(.applied(.refused(probe.store.summary)))
        #expect(effects.frames == [.want(Want(slices: 3, since: VersionVector(), resumption: nil))])
        #expect(effects.applies.isEmpty)
        #expect(
            probe.receive(.slice(SessionProbe.slice(4, of: 5), alsoSentTo: [])).frames
                == [.acknowledge(Acknowledgement(slices: 4, durable: VersionVector()))])
        // The delta that starts again is taken.
        #expect(probe.receive(.slice(SessionProbe.slice(1, of: 1), alsoSentTo: [])).applies.count == 1)
    }

    @Test func `a want starts the delta again from there, whatever was said before or is being read`() {
        let said = Head(dot: Dot(replica: SessionProbe.peer, sequence: 9), timestamp: .zero)
        var (probe, effects) = sending(slices: 2, peerKnows: [said])
        guard let stale = effects.reads.first else { return }
        #expect(stale == SliceRequest(since: VersionVector([said.dot])))
        let vector = VersionVector([Dot(replica: SessionProbe.peer, sequence: 7)])
        let resumption = Resumption(position: FrameSamples.position, vector: vector)
        effects = probe.receive(.want(Want(slices: 0, since: vector, resumption: resumption)))
        #expect(effects.reads.isEmpty)
        effects = probe.handle(.sliceRead(probe.store.read(stale)))
        #expect(effects.frames.isEmpty)
        #expect(effects.reads == [SliceRequest(since: vector, resumption: resumption)])
    }

    @Test func `what was broken off counts until a delta is complete`() {
        var probe = SessionProbe()
        probe.store.commit(now: 1, [])
        var hello = probe.hello()
        hello.resumption = Resumption(position: FrameSamples.position, vector: FrameSamples.vector)
        var effects = probe.open(with: hello)
        #expect(effects.reads.map(\.resumption) == [hello.resumption])
        #expect(answerReads(&probe, effects).count == 1)
        probe.store.commit(now: 2, [])
        _ = probe.handle(.committed(probe.store.summary))
        effects = probe.receive(.acknowledge(Acknowledgement(slices: 1, durable: VersionVector())))
        #expect(effects.reads == [SliceRequest(since: VersionVector([dot]))])
    }

    @Test func `a peer that refuses everything is given up`() {
        var (probe, effects) = sending(slices: 1)
        var refusals = 0
        while effects.closeReason == nil, refusals < 100 {
            _ = answerReads(&probe, effects)
            refusals += 1
            effects = probe.receive(.want(Want(slices: UInt64(refusals), since: VersionVector(), resumption: nil)))
        }
        #expect(refusals == 9)
        #expect(effects.goodbye == .protocolError)
    }

    @Test func `an acknowledgement of slices never sent, or taken back, is a protocol error`() {
        var (probe, effects) = sending()
        _ = answerReads(&probe, effects)
        var past = probe
        #expect(past.receive(.acknowledge(Acknowledgement(slices: 5, durable: VersionVector()))).goodbye == .protocolError)
        effects = probe.receive(.acknowledge(Acknowledgement(slices: 4, durable: VersionVector())))
        #expect(effects.closeReason == nil)
        #expect(probe.receive(.acknowledge(Acknowledgement(slices: 3, durable: VersionVector()))).goodbye == .protocolError)
    }

    @Test func `a frame that cannot be read is a protocol error`() {
        var probe = SessionProbe()
        _ = probe.open()
        #expect(probe.handle(.received([2, 0xff])).goodbye == .protocolError)
        var empty = SessionProbe()
        _ = empty.open()
        #expect(empty.handle(.received([])).goodbye == .protocolError)
    }

    @Test func `a store that fails ends the session, to be tried again later`() {
        var probe = SessionProbe()
        _ = probe.open()
        _ = probe.receive(.slice(SessionProbe.slice(1, of: 1), alsoSentTo: []))
        let reason = probe.handle(.storeFailed("The disk is full.")).closeReason
        #expect(reason?.code == .storeFailed)
        #expect(reason?.code.retry == .later)
        #expect(reason?.message == "The disk is full.")
    }

    @Test func `acknowledgements tell of the apply at once, and of durability when it comes`() {
        var probe = SessionProbe()
        _ = probe.open()
        let slice = SessionProbe.slice(1, of: 1)
        _ = probe.receive(.slice(slice, alsoSentTo: []))
        let outcome = probe.store.apply(slice)
        #expect(probe.handle(.applied(outcome)).frames == [.acknowledge(Acknowledgement(slices: 1, durable: VersionVector()))])
        #expect(probe.handle(.durable(slice.vector)).frames == [.acknowledge(Acknowledgement(slices: 1, durable: slice.vector))])
        #expect(probe.handle(.durable(slice.vector)).isEmpty)
        // What the peer did not bring can wait for the next frame.
        #expect(probe.handle(.durable(VersionVector([dot]))).isEmpty)
    }
}
