import KithSync
import TestSupport
import Testing

/// Whom to dial and when: what could flood the network, or keep a device from being dialled.
@Suite struct DialPlannerTests {
    private var random = Fixed()
    private var planner = Planner()

    private typealias Planner = DialPlanner<Int, String, String>

    @Test mutating func `a device with an address is dialled at once and only once`() throws {
        planner.trust([device(1)], now: at(0))
        #expect(planner.start(now: at(0)).map(\.target) == [.device(id(1))])
        #expect(planner.start(now: at(10)).isEmpty)
        #expect(planner.isDialling)
    }

    @Test mutating func `a device without an address waits for an announcement`() {
        planner.trust([(id(1), [])], now: at(0))
        #expect(planner.start(now: at(0)).isEmpty)
        #expect(planner.nextDue == nil)
        planner.found("one", [address(1)], now: at(5))
        #expect(planner.start(now: at(5)).map(\.target) == [.announced("one")])
    }

    @Test mutating func `a device is dialled where it was reached before`() throws {
        let bare: (device: Int, addresses: [String]) = (id(1), [])
        let (old, given) = (address(7), address(1))
        planner.trust([bare], now: at(0)) { _ in [old] }
        #expect(planner.start(now: at(0)).map(\.addresses) == [[old]])
        var both = Planner()
        both.trust([device(1)], now: at(0)) { _ in [old, given] }
        let expected = device(1).addresses + [old]
        #expect(both.start(now: at(0)).map(\.addresses) == [expected])
    }

    @Test mutating func `a network that comes back ends every pause`() throws {
        planner.trust([device(1)], now: at(0))
        for _ in 0..<6 {
            let due = try #require(planner.nextDue)
            let target = try #require(planner.start(now: due).first?.target)
            planner.failed(target, .later, now: due, using: &random)
        }
        let now = try #require(planner.nextDue).advanced(byMilliseconds: -500)
        #expect(planner.start(now: now).isEmpty)
        planner.retryAll(now: now)
        #expect(planner.start(now: now).count == 1)
    }

    @Test mutating func `failures wait longer and longer up to the limit`() throws {
        planner.trust([device(1)], now: at(0))
        var now: Int64 = 0
        var waits: [Int64] = []
        for _ in 0..<12 {
            let target = try #require(planner.start(now: at(now)).first?.target)
            planner.failed(target, .later, now: at(now), using: &random)
            let due = try #require(planner.nextDue).milliseconds
            waits.append(due - now)
            now = due
        }
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(waits[0] <= 500 && waits.last! <= 60_000 && waits.last! >= 30_000)
    }

    @Test mutating func `a device that is connected is not dialled under any name`() throws {
        planner.trust([device(1)], now: at(0))
        planner.found("one", [address(1)], now: at(0))
        for start in planner.start(now: at(0)) { planner.connected(id(1), dialled: start.target) }
        planner.disconnected(id(1), .afterChange, now: at(1), using: &random)
        #expect(planner.start(now: at(1_000_000)).isEmpty)
        planner.disconnected(id(1), .later, now: at(1_000_000), using: &random)
        #expect(planner.start(now: at(1_000_600)).count == 1)
    }

    @Test mutating func `a device is dialled first where it was reached and a little later where it is announced`() throws {
        planner.trust([device(1)], now: at(0))
        planner.found("one", [address(2)], device: id(1), now: at(0))
        #expect(planner.start(now: at(0)).map(\.target) == [.device(id(1))])
        #expect(planner.start(now: at(499)).isEmpty)
        #expect(planner.nextDue == at(500))
        #expect(planner.start(now: at(500)).map(\.target) == [.announced("one")])
        #expect(planner.nextDue == nil)
        planner.connected(id(1), dialled: .announced("one"))
        planner.failed(.device(id(1)), .later, now: at(600), using: &random)
        #expect(planner.nextDue == nil)
    }

    @Test mutating func `a device is dialled in as many places at once as may be and no more`() throws {
        planner.trust([(id(1), [])], now: at(0))
        for number in 0..<20 { planner.found("\(number)", [address(number)], device: id(1), now: at(0)) }
        for step in 0..<30 { _ = planner.start(now: at(Int64(step) * 500)) }
        #expect(planner.diallingCount == Planner.atOnceMax && planner.nextDue == nil)
        // In the order in which they came, and whoever had its turn waits for the others.
        planner.failed(.announced("0"), .atOnce, now: at(20_000), using: &random)
        #expect(planner.start(now: at(20_000)).map(\.target) == [.announced("8")])
    }

    @Test mutating func `whose connections all gave way to others is dialled soon`() throws {
        planner.trust([device(1)], now: at(0))
        for start in planner.start(now: at(0)) { planner.connected(id(1), dialled: start.target) }
        planner.connected(id(1), dialled: nil)
        planner.disconnected(id(1), .afterChange, isReplaced: true, now: at(1), using: &random)
        #expect(planner.nextDue == nil, "the other connection is kept")
        planner.disconnected(id(1), .afterChange, isReplaced: true, now: at(2), using: &random)
        #expect(try #require(planner.nextDue).milliseconds <= 2_000)
    }

    @Test mutating func `a new address is tried at once whatever the pause`() throws {
        planner.found("one", [address(1)], now: at(0))
        let target = try #require(planner.start(now: at(0)).first?.target)
        planner.failed(target, .afterChange, now: at(0), using: &random)
        #expect(planner.start(now: at(1_000)).isEmpty)
        planner.found("one", [address(2)], now: at(1_000))
        #expect(planner.start(now: at(1_000)).count == 1)
    }

    @Test mutating func `a device of the list that refuses is asked again soon, and then ever more rarely`() throws {
        planner.trust([device(1)], now: at(0))
        planner.found("one", [address(2)], device: id(2), now: at(0))
        planner.found("stranger", [address(3)], now: at(0))
        var now: Int64 = 0
        var asked: [Planner.Target: [Int64]] = [:]
        while now < 600_000 {
            for start in planner.start(now: at(now)) {
                asked[start.target, default: []].append(now)
                planner.failed(start.target, .afterChange, now: at(now), using: &random)
            }
            now = try #require(planner.nextDue).milliseconds
        }
        for target in [Planner.Target.device(id(1)), .announced("one")] {
            let times = try #require(asked[target])
            #expect(times[1] <= 500 && times[2] <= 1_500 && times.count < 30, "\(times)")
        }
        #expect(try #require(asked[.announced("stranger")]).count == 10)
    }

    @Test mutating func `a changed list of devices ends every pause`() throws {
        planner.found("one", [address(1)], now: at(0))
        let target = try #require(planner.start(now: at(0)).first?.target)
        planner.failed(target, .afterChange, now: at(0), using: &random)
        planner.trust([device(1)], now: at(10))
        #expect(planner.start(now: at(10)).count == 2)
    }

    @Test mutating func `what is no longer announced or trusted is forgotten`() throws {
        planner.trust([device(1)], now: at(0))
        planner.found("one", [address(1)], now: at(0))
        planner.keep(announced: [])
        planner.trust([], now: at(0))
        #expect(planner.start(now: at(1_000_000)).isEmpty)
    }

    @Test mutating func `a session that came about makes the next pause short again`() throws {
        planner.trust([device(1)], now: at(0))
        var now: Int64 = 0
        for _ in 0..<8 {
            let target = try #require(planner.start(now: at(now)).first?.target)
            planner.failed(target, .later, now: at(now), using: &random)
            now = try #require(planner.nextDue).milliseconds
        }
        let target = try #require(planner.start(now: at(now)).first?.target)
        planner.connected(id(1), dialled: target)
        planner.succeeded(id(1))
        planner.disconnected(id(1), .later, now: at(now), using: &random)
        #expect(try #require(planner.nextDue).milliseconds <= now + 500)
    }

    // MARK: Names

    private func at(_ milliseconds: Int64) -> Instant { Instant(milliseconds: milliseconds) }

    private func id(_ number: Int) -> Int { number }

    private func address(_ number: Int) -> String { "10.0.0.\(number):4747" }

    private func device(_ number: Int) -> (device: Int, addresses: [String]) { (number, [address(number)]) }

    /// Always draws the same.
    private struct Fixed: RandomNumberGenerator {
        mutating func next() -> UInt64 { 1 << 40 }
    }
}
