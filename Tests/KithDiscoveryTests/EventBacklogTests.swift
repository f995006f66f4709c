import TestSupport
import Testing

@testable import KithDiscovery

@Suite("A slow reader costs no memory and misses nothing that still holds")
struct EventBacklogTests {
    private func announcement(_ name: InstanceName, port: UInt16) -> Announcement {
        Announcement(name: name, host: "h.local.", port: port, addresses: [], attributes: TXTRecord())
    }

    /// What a reader who plays the events believes to be there.
    private struct Reader {
        var present: [InstanceName: Announcement] = [:]
        var contradictions = 0

        mutating func read(_ event: DiscoveryEvent) {
            switch event {
            case .appeared(let announcement):
                if present.updateValue(announcement, forKey: announcement.name) != nil { contradictions += 1 }
            case .changed(let announcement):
                if present.updateValue(announcement, forKey: announcement.name) == nil { contradictions += 1 }
            case .disappeared(let name):
                if present.removeValue(forKey: name) == nil { contradictions += 1 }
            case .status: break
            }
        }
    }

    @Test func `a reader that looks now and then believes the same as one that sees everything`() throws {
        var generator = SplitMix64(seed: 3)
        let names = try (0..<8).map { try #require(InstanceName(bytes: "n\($0)".utf8)) }
        var backlog = EventBacklog()
        var attentive = Reader()
        var slow = Reader()
        for step in 0..<50_000 {
            let name = names[Int.random(in: 0..<8, using: &generator)]
            let next = announcement(name, port: UInt16(step % 60_000))
            let event: DiscoveryEvent =
                attentive.present[name] == nil ? .appeared(next) : Bool.random(using: &generator) ? .changed(next) : .disappeared(name)
            attentive.read(event)
            backlog.append(event)
            #expect(backlog.count <= 8)
            for _ in 0..<Int.random(in: 0...1, using: &generator) {
                if let event = backlog.popFirst() { slow.read(event) }
            }
        }
        while let event = backlog.popFirst() { slow.read(event) }
        #expect(slow.present == attentive.present)
        #expect(slow.contradictions == 0)
    }

    @Test func `only the latest status waits, and it comes first`() throws {
        let name = try #require(InstanceName(bytes: "n".utf8))
        var backlog = EventBacklog()
        backlog.append(.disappeared(name))
        backlog.append(.status(.unavailable(.daemonUnavailable(code: -1))))
        backlog.append(.status(.running))
        let popped = (0..<3).map { _ in backlog.popFirst() }
        #expect(popped == [.status(.running), .disappeared(name), nil])
    }
}
