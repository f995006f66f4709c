import KithCausality
import KithSync
import TestSupport
import Testing

/// Risk: bytes of attachments are asked of the wrong peer, twice, for ever or not at all, or a peer makes us keep what nobody asked for.
@Suite struct AttachmentFetcherTests {
    private static let photo = id(1)
    private static let film = id(2)
    private static let a = ReplicaID(high: 1, low: 0)
    private static let b = ReplicaID(high: 2, low: 0)
    private static let c = ReplicaID(high: 3, low: 0)

    // swift-format-ignore: NeverForceUnwrap
    private static func id(_ number: UInt8) -> AttachmentID {
        AttachmentID(bytes: [UInt8](repeating: number, count: AttachmentID.byteCount))!
    }

    // swift-format-ignore: NeverForceUnwrap
    private static func outline(chunks: Int) -> AttachmentOutline {
        AttachmentOutline(
            size: Int64(chunks * AttachmentLimits.chunkBytes), hashes: [UInt8](repeating: 0, count: chunks * AttachmentOutline.hashBytes))!
    }

    /// A node whose store and peers do what they are asked at once.
    private struct World {
        var fetcher = AttachmentFetcher()
        var now = Instant(milliseconds: 0)
        /// What the store holds of 5 chunks.
        var held: [AttachmentID: Int] = [:]
        var outlines: Set<AttachmentID> = []
        var completed: [AttachmentID] = []
        /// What each peer has, and what it was asked and has not answered.
        var stocks: [ReplicaID: Set<AttachmentID>] = [:]
        var open: [(peer: ReplicaID, piece: AttachmentPiece)] = []
        var blamed: [ReplicaID] = []
        var served: [AttachmentPiece] = []
        var told: [(peer: ReplicaID, id: AttachmentID)] = []
        static let chunks = 5

        mutating func handle(_ input: AttachmentFetcher.Input) {
            for effect in fetcher.handle(input, now: now) { perform(effect) }
        }

        mutating func perform(_ effect: AttachmentFetcher.Effect) {
            switch effect {
            case .send(.want(let piece), let peer): open.append((peer, piece))
            case .send(.have(let id), let peer): told.append((peer, id))
            case .send: Issue.record("nothing else is sent")
            case .serve(let piece, _): served.append(piece)
            case .begin(let id): handle(.holds(id, outlines.contains(id) ? .init(held: held[id] ?? 0, chunks: Self.chunks) : nil))
            case .keep(.outline, let id, _):
                outlines.insert(id)
                handle(.holds(id, .init(held: held[id] ?? 0, chunks: Self.chunks)))
            case .keep(.chunk(_, let index, _), let id, _):
                #expect(index == held[id] ?? 0, "chunks come in order")
                held[id, default: 0] += 1
                if held[id] == Self.chunks {
                    completed.append(id)
                    handle(.completed(id))
                } else {
                    handle(.holds(id, .init(held: held[id] ?? 0, chunks: Self.chunks)))
                }
            case .keep: Issue.record("nothing else is kept")
            case .blame(let peer, _): blamed.append(peer)
            }
        }

        /// The oldest question that a peer has open; `nil` if there is none.
        mutating func answerNext(by peer: ReplicaID? = nil) -> AttachmentPiece? {
            guard let index = open.firstIndex(where: { peer == nil || $0.peer == peer }) else { return nil }
            let (peer, piece) = open.remove(at: index)
            guard stocks[peer]?.contains(piece.id) == true else {
                handle(.received(.haveNot(piece.id), from: peer))
                return piece
            }
            let answer: AttachmentMessage =
                piece.chunk.map { .chunk(piece.id, index: $0, []) }
                ?? .outline(piece.id, AttachmentFetcherTests.outline(chunks: Self.chunks))
            handle(.received(answer, from: peer))
            return piece
        }

        mutating func answerAll() { while answerNext() != nil {} }
        mutating func wait(_ milliseconds: Int64) {
            now = now.advanced(byMilliseconds: milliseconds)
            handle(.tick)
        }
        mutating func leave(_ peer: ReplicaID) {
            open.removeAll { $0.peer == peer }
            handle(.left(peer))
        }
    }

    @Test func `an attachment is fetched chunk by chunk, with few of them on their way`() {
        var world = World()
        world.stocks = [Self.a: [Self.photo]]
        world.handle(.appeared(Self.a))
        world.handle(.wanted([Self.photo]))
        #expect(world.open.map(\.piece) == [AttachmentPiece(Self.photo, chunk: nil)])
        var pieces: [AttachmentPiece] = []
        while let piece = world.answerNext() {
            pieces.append(piece)
            #expect(world.open.count <= AttachmentLimits.chunksInFlightMax)
        }
        #expect(pieces.map(\.chunk) == [nil, 0, 1, 2, 3, 4])
        #expect(world.completed == [Self.photo])
    }

    @Test(arguments: 0...6) func `a transfer goes on with another peer at the chunk where the last one left`(answered: Int) {
        var world = World()
        world.stocks = [Self.a: [Self.photo], Self.b: [Self.photo]]
        world.handle(.appeared(Self.a))
        world.handle(.wanted([Self.photo]))
        for _ in 0..<answered { _ = world.answerNext() }
        let held = world.held[Self.photo] ?? 0
        world.leave(Self.a)
        world.handle(.appeared(Self.b))
        let first = world.answerNext()?.chunk
        if answered > 0, answered < 6 { #expect(first == held) }
        world.answerAll()
        #expect(world.completed == [Self.photo])
    }

    @Test func `a hundred thousand names of nothing are asked for once, and then more and more seldom; what somebody has comes first`() {
        func many(_ number: Int) -> AttachmentID {
            var bytes = [UInt8](repeating: 9, count: AttachmentID.byteCount)
            for place in 0..<4 { bytes[place] = UInt8(truncatingIfNeeded: number >> (8 * place)) }
            return AttachmentID(bytes: bytes) ?? Self.photo
        }
        var world = World()
        world.stocks = [Self.a: [Self.photo]]
        world.handle(.appeared(Self.a))
        // The peer tells of it before the row that names it is here.
        world.handle(.received(.have(Self.photo), from: Self.a))
        let names = (0..<100_000).map(many)
        world.handle(.wanted(names + [Self.photo]))
        #expect(world.open.map(\.piece.id) == [Self.photo])
        for _ in 0..<6 { _ = world.answerNext() }
        #expect(world.completed == [Self.photo])
        var asked = 0
        while world.answerNext() != nil { asked += 1 }
        #expect(asked == names.count)
        // In a day, of 2,880 half minutes.
        var rounds = 0
        for _ in 0..<2_880 {
            world.wait(AttachmentLimits.retryMilliseconds)
            if world.open.isEmpty { continue }
            rounds += 1
            world.handle(.wanted(Array(names.prefix(3))))
            while world.answerNext() != nil {}
        }
        #expect((20...40).contains(rounds), "\(rounds)")
    }

    @Test func `four peers that send a piece now and then make room for one that waits, and then go on where they were`() {
        var world = World()
        let slow = (10..<14).map { ReplicaID(high: UInt64($0), low: 0) }
        let films = (10..<14).map { Self.id($0) }
        for (peer, film) in zip(slow, films) {
            world.stocks[peer] = [film]
            world.handle(.appeared(peer))
            world.handle(.wanted(films + [Self.photo]))
            world.handle(.received(.have(film), from: peer))
        }
        for peer in slow { _ = world.answerNext(by: peer) }
        world.stocks[Self.a] = [Self.photo]
        world.handle(.appeared(Self.a))
        world.handle(.received(.have(Self.photo), from: Self.a))
        #expect(!world.open.contains { $0.peer == Self.a })
        for _ in 0..<4 where !world.completed.contains(Self.photo) {
            world.wait(AttachmentLimits.turnMilliseconds / 3)
            for peer in slow { _ = world.answerNext(by: peer) }
            while world.answerNext(by: Self.a) != nil {}
        }
        #expect(world.completed == [Self.photo])
        world.answerAll()
        #expect(Set(world.completed) == Set(films + [Self.photo]) && world.blamed.isEmpty)
    }

    @Test func `who does not have it is passed over, asked again later, or at once when it says that it has it now`() {
        var world = World()
        world.stocks = [Self.b: []]
        world.handle(.appeared(Self.a))
        world.handle(.appeared(Self.b))
        world.handle(.wanted([Self.photo]))
        world.answerAll()
        #expect(world.open.isEmpty && world.completed.isEmpty)
        world.wait(AttachmentLimits.retryMilliseconds - 1)
        #expect(world.open.isEmpty)
        world.wait(1)
        #expect(world.open.map(\.peer) == [Self.a])
        world.answerAll()
        world.stocks[Self.b] = [Self.photo]
        world.handle(.received(.have(Self.photo), from: Self.b))
        #expect(world.open.map(\.peer) == [Self.b])
        world.answerAll()
        #expect(world.completed == [Self.photo])
    }

    @Test func `two peers that have both are asked for one each, at the same time`() {
        var world = World()
        world.stocks = [Self.a: [Self.photo, Self.film], Self.b: [Self.photo, Self.film]]
        world.handle(.appeared(Self.a))
        world.handle(.appeared(Self.b))
        world.handle(.wanted([Self.photo, Self.film]))
        #expect(Set(world.open.map(\.peer)) == [Self.a, Self.b] && Set(world.open.map(\.piece.id)) == [Self.photo, Self.film])
        world.answerAll()
        #expect(world.completed.sorted() == [Self.photo, Self.film])
    }

    @Test func `a peer that is silent is left for another, and what it sends late does no harm`() {
        var world = World()
        world.stocks = [Self.a: [Self.photo], Self.b: [Self.photo]]
        world.handle(.appeared(Self.a))
        world.handle(.wanted([Self.photo]))
        _ = world.answerNext()
        world.handle(.appeared(Self.b))
        world.wait(AttachmentLimits.patienceMilliseconds)
        #expect(world.open.contains { $0.peer == Self.b })
        while world.answerNext(by: Self.a) != nil {}
        world.answerAll()
        #expect(world.completed == [Self.photo] && world.blamed.isEmpty)
    }

    @Test func `a line on which each piece comes late brings everything, and nothing twice`() {
        var world = World()
        world.stocks = [Self.a: [Self.photo]]
        world.handle(.appeared(Self.a))
        world.handle(.wanted([Self.photo]))
        var pieces: [AttachmentPiece] = []
        while !world.open.isEmpty, pieces.count < 20 {
            world.wait(AttachmentLimits.patienceMilliseconds + 3_000)
            world.answerNext().map { pieces.append($0) }
        }
        #expect(pieces.map(\.chunk) == [nil, 0, 1, 2, 3, 4] && world.completed == [Self.photo])
    }

    @Test(arguments: 2...3) func `several peers behind one slow line do not take turns for ever`(count: Int) {
        var world = World()
        let peers = [Self.a, Self.b, Self.c].prefix(count)
        for peer in peers {
            world.stocks[peer] = [Self.photo]
            world.handle(.appeared(peer))
        }
        world.handle(.wanted([Self.photo]))
        var answers = 0
        while world.completed.isEmpty, answers < 60 {
            world.wait(AttachmentLimits.patienceMilliseconds + 3_000)
            // The line is shared: one piece at a time, of one peer after the other.
            for offset in 0..<count where world.answerNext(by: peers[(answers + offset) % count]) != nil { break }
            answers += 1
        }
        #expect(world.completed == [Self.photo] && world.blamed.isEmpty)
    }

    @Test func `who comes later takes over from one that is late already`() {
        var world = World()
        world.stocks = [Self.a: [Self.photo], Self.b: [Self.photo]]
        world.handle(.appeared(Self.a))
        world.handle(.wanted([Self.photo]))
        world.wait(2 * AttachmentLimits.patienceMilliseconds)
        #expect(world.fetcher.nextDeadline == nil)
        world.handle(.appeared(Self.b))
        #expect(world.open.contains { $0.peer == Self.b })
        while world.answerNext(by: Self.b) != nil {}
        #expect(world.completed == [Self.photo])
    }

    @Test func `what is gone from the disk in the middle is fetched anew`() {
        var world = World()
        world.stocks = [Self.a: [Self.photo]]
        world.handle(.appeared(Self.a))
        world.handle(.wanted([Self.photo]))
        for _ in 0..<3 { _ = world.answerNext() }
        (world.held, world.outlines) = ([:], [])
        world.handle(.holds(Self.photo, nil))
        world.answerAll()
        #expect(world.completed == [Self.photo] && world.blamed.isEmpty)
    }

    @Test func `a piece that nobody asked for ends the session with its sender`() {
        let unasked: [AttachmentMessage] = [
            .chunk(Self.photo, index: 0, [1]), .outline(Self.photo, Self.outline(chunks: 1)), .haveNot(Self.photo),
        ]
        for message in unasked {
            var world = World()
            world.handle(.appeared(Self.a))
            world.handle(.received(message, from: Self.a))
            #expect(world.blamed == [Self.a])
        }
        // Nor one that was asked for, twice.
        var world = World()
        world.stocks = [Self.a: [Self.photo]]
        world.handle(.appeared(Self.a))
        world.handle(.wanted([Self.photo]))
        for _ in 0..<3 { _ = world.answerNext() }
        world.handle(.received(.chunk(Self.photo, index: 1, []), from: Self.a))
        #expect(world.blamed == [Self.a])
        #expect(world.held[Self.photo] == 2)
    }

    @Test func `whose piece was wrong is blamed, and another one is asked`() {
        var world = World()
        world.stocks = [Self.b: [Self.photo]]
        world.handle(.appeared(Self.a))
        world.handle(.wanted([Self.photo]))
        world.handle(.refused(Self.photo, from: Self.a))
        #expect(world.blamed == [Self.a])
        world.open = []
        world.handle(.appeared(Self.b))
        world.answerAll()
        #expect(world.completed == [Self.photo] && world.blamed == [Self.a])
    }

    @Test func `after a write that failed nothing is asked until the disk had time to recover`() {
        var world = World()
        world.stocks = [Self.a: [Self.photo]]
        world.handle(.appeared(Self.a))
        world.handle(.wanted([Self.photo]))
        for _ in 0..<2 { _ = world.answerNext() }
        world.handle(.failed)
        world.answerAll()
        #expect(world.completed.isEmpty)
        #expect(world.fetcher.nextDeadline == Instant(milliseconds: AttachmentLimits.retryMilliseconds))
        world.wait(AttachmentLimits.retryMilliseconds)
        world.answerAll()
        #expect(world.completed == [Self.photo])
    }

    @Test func `what is declined or no longer wanted is not asked for`() {
        var world = World()
        world.stocks = [Self.a: [Self.photo, Self.film]]
        world.handle(.appeared(Self.a))
        world.handle(.wanted([Self.photo, Self.film]))
        world.handle(.declined(Self.photo))
        world.handle(.wanted([Self.film]))
        world.answerAll()
        #expect(world.completed == [Self.film])
    }

    @Test func `who asked in vain is told when it has come, but only so many are remembered`() {
        var world = World()
        world.stocks = [Self.a: [Self.photo]]
        world.handle(.appeared(Self.a))
        world.handle(.appeared(Self.b))
        world.handle(.received(.want(AttachmentPiece(Self.photo, chunk: nil)), from: Self.b))
        #expect(world.served == [AttachmentPiece(Self.photo, chunk: nil)])
        world.handle(.lacked(Self.photo, to: Self.b))
        world.handle(.lacked(Self.photo, to: Self.b))
        world.handle(.wanted([Self.photo]))
        world.answerAll()
        #expect(world.told.map(\.peer) == [Self.b] && world.told.map(\.id) == [Self.photo])

        // One past the limit: the oldest is forgotten.
        var full = World()
        full.handle(.appeared(Self.b))
        for number in 0...AttachmentLimits.askersMax {
            let bytes = [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 9, count: 30)
            full.handle(.lacked(AttachmentID(bytes: bytes)!, to: Self.b))
        }
        full.handle(.completed(AttachmentID(bytes: [0, 0] + [UInt8](repeating: 9, count: 30))!))
        full.handle(.completed(AttachmentID(bytes: [0, 1] + [UInt8](repeating: 9, count: 30))!))
        #expect(full.told.count == 1)
    }

    @Test(arguments: 1...40) func `whatever peers come, go, lack and stall, all that somebody has arrives`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var world = World()
        let ids = (1...6).map { Self.id(UInt8($0)) }
        let peers = [Self.a, Self.b, Self.c]
        for peer in peers { world.stocks[peer] = Set(ids.filter { _ in Bool.random(using: &random) }) }
        world.handle(.wanted(ids))
        var present: [ReplicaID] = []
        for _ in 0..<300 {
            let peer = peers[Int.random(in: 0..<3, using: &random)]
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                world.leave(peer)
                present.removeAll { $0 == peer }
            case 1 where !present.contains(peer):
                world.handle(.appeared(peer))
                present.append(peer)
            case 2: world.wait(.random(in: 0...40_000, using: &random))
            case 3: world.handle(.failed)
            case 4: world.handle(.wanted(ids.filter { !world.completed.contains($0) }))
            default: _ = world.answerNext(by: peer)
            }
        }
        for peer in peers where !present.contains(peer) { world.handle(.appeared(peer)) }
        for _ in 0..<4 {
            world.answerAll()
            world.wait(AttachmentLimits.retryMilliseconds)
        }
        let available = peers.reduce(into: Set<AttachmentID>()) { $0.formUnion(world.stocks[$1] ?? []) }
        #expect(Set(world.completed) == available)
        #expect(world.completed.count == available.count, "nothing is fetched twice")
        #expect(world.blamed.isEmpty)
    }
}
