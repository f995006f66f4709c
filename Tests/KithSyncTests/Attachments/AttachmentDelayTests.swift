import KithCausality
import KithSync
import Testing

/// Risk: an attachment that cannot be written keeps all others away, or is tried again and again at once.
@Suite struct AttachmentDelayTests {
    private static let peer = ReplicaID(high: 1, low: 0)

    // swift-format-ignore: NeverForceUnwrap
    private static func id(_ number: UInt8) -> AttachmentID {
        AttachmentID(bytes: [UInt8](repeating: number, count: AttachmentID.byteCount))!
    }

    private var fetcher = AttachmentFetcher()
    private var now = Instant(milliseconds: 0)

    private mutating func handle(_ input: AttachmentFetcher.Input) -> [AttachmentID] {
        fetcher.handle(input, now: now).compactMap { if case .begin(let id) = $0 { id } else { nil } }
    }

    @Test mutating func `what failed alone lets other attachments go on, and is tried again later and later`() {
        _ = handle(.appeared(Self.peer))
        #expect(handle(.wanted([Self.id(1), Self.id(2)])) == [Self.id(1)])
        #expect(handle(.postponed(Self.id(1))) == [Self.id(2)])
        #expect(handle(.completed(Self.id(2))) == [])
        for pause in [1, 2, 4, 8] as [Int64] {
            let milliseconds = pause * AttachmentLimits.retryMilliseconds
            #expect(fetcher.nextDeadline == now.advanced(byMilliseconds: milliseconds))
            now = now.advanced(byMilliseconds: milliseconds - 1)
            #expect(handle(.tick) == [])
            now = now.advanced(byMilliseconds: 1)
            #expect(handle(.tick) == [Self.id(1)])
            #expect(handle(.postponed(Self.id(1))) == [])
        }
        // Two pieces that were under way together fail once.
        now = now.advanced(byMilliseconds: 16 * AttachmentLimits.retryMilliseconds)
        #expect(handle(.tick) == [Self.id(1)])
        #expect(handle(.postponed(Self.id(1))) == [])
        let end = fetcher.nextDeadline
        #expect(handle(.postponed(Self.id(1))) == [] && fetcher.nextDeadline == end)
        // What is no longer wanted is forgotten.
        #expect(handle(.wanted([])) == [] && fetcher.nextDeadline == nil)
        #expect(handle(.wanted([Self.id(1)])) == [Self.id(1)])
    }

    @Test mutating func `when many fail, all wait`() {
        _ = handle(.appeared(Self.peer))
        var begun = handle(.wanted((1...9).map(Self.id)))
        for number in 1...UInt8(AttachmentLimits.transfersMax) + 1 {
            #expect(begun == [Self.id(number)])
            begun = handle(.postponed(Self.id(number)))
        }
        #expect(begun == [])
        now = now.advanced(byMilliseconds: AttachmentLimits.retryMilliseconds)
        #expect(handle(.tick) == [Self.id(1)])
        #expect(handle(.completed(Self.id(1))) == [Self.id(2)])
        // What fails again comes behind what has not been tried.
        for number in 2...UInt8(5) { begun = handle(.postponed(Self.id(number))) }
        #expect(begun == [Self.id(6)])
    }

    @Test(arguments: [false, true]) mutating func `what fails each time does not hold up what comes later`(peerSays: Bool) {
        let broken = (1...UInt8(200)).map(Self.id), sound = Self.id(255)
        _ = handle(.appeared(Self.peer))
        var begun = handle(.wanted(broken))
        for _ in 0..<2_000 {
            // The row of an attachment that can be written comes after many rounds, in which each of the others has failed.
            while let id = begun.first { begun = handle(.postponed(id)) }
            guard let deadline = fetcher.nextDeadline else { return }
            now = deadline
            begun = handle(.tick)
        }
        while let id = begun.first { begun = handle(.postponed(id)) }
        begun = handle(.wanted(broken + [sound]))
        if peerSays { begun += handle(.received(.have(sound), from: Self.peer)) }
        let wanted = now
        while begun != [sound], now < wanted.advanced(byMilliseconds: 2 * AttachmentLimits.retryMilliseconds) {
            if let id = begun.first {
                begun = handle(.postponed(id))
            } else {
                now = fetcher.nextDeadline ?? now.advanced(byMilliseconds: AttachmentLimits.retryMilliseconds)
                begun = handle(.tick)
            }
        }
        #expect(begun == [sound])
    }
}
