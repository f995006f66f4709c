#if os(Linux)
import Foundation
import Glibc
import KithTesting
import Synchronization

/// The network between the nodes: an Ethernet switch in this process that lets through, delays, loses and slows down frames,
/// pair by pair, and counts them.
final class Switch: Sendable {
    private struct State {
        var links: [Scenario.Link]
        var states: [LinkState]
        /// By pair, and by node.
        var isJoined: [Bool]
        var isPlugged: [Bool]
        var isRunning = true
    }

    private struct Waiting {
        let arrival: Double
        let to: Int
        let frame: [UInt8]
    }

    private static let frameBytesMax = 2_048
    private static let idleMilliseconds = 100.0

    private let taps: [Tap]
    private let count: Int
    private let state: Mutex<State>

    /// - Parameter scenario: says how frames fare at the beginning.
    init(_ taps: [Tap], _ scenario: Scenario) {
        self.taps = taps
        count = taps.count
        var links = [Scenario.Link](repeating: scenario.link, count: taps.count * taps.count)
        var isJoined = [Bool](repeating: false, count: taps.count * taps.count)
        for pair in scenario.pairs {
            for index in [pair.first * taps.count + pair.second, pair.second * taps.count + pair.first] {
                links[index] = scenario.links[pair] ?? scenario.link
                isJoined[index] = scenario.isConnected(pair)
            }
        }
        state = Mutex(
            State(
                links: links, states: .init(repeating: LinkState(), count: links.count), isJoined: isJoined,
                isPlugged: .init(repeating: true, count: taps.count)))
    }

    // MARK: What the scenario does to it

    func setPlugged(_ node: Int, _ isPlugged: Bool) {
        state.withLock { $0.isPlugged[node] = isPlugged }
        taps[node].setCarrier(isPlugged)
    }

    func setJoined(_ pair: Scenario.Pair, _ isJoined: Bool) {
        state.withLock { state in
            for index in indices(pair) { state.isJoined[index] = isJoined }
        }
    }

    func setLink(_ pair: Scenario.Pair, _ link: Scenario.Link) {
        state.withLock { state in
            for index in indices(pair) { state.links[index] = link }
        }
    }

    /// What went over each link so far, from one node to another.
    func traffic() -> [(from: Int, to: Int, state: LinkState)] {
        state.withLock { state in
            (0..<count).flatMap { from in
                (0..<count).filter { $0 != from }.map { (from, $0, state.states[from * count + $0]) }
            }
        }
    }

    func stop() {
        state.withLock { $0.isRunning = false }
    }

    // MARK: Frames

    /// Carries frames until ``stop()``; blocks the thread it is called on.
    func run(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var ports: [UInt64: Int] = [:]
        var waiting: [[Waiting]] = .init(repeating: [], count: count * count)
        var buffer = [UInt8](repeating: 0, count: Self.frameBytesMax)
        while state.withLock({ $0.isRunning }) {
            let now = Self.now()
            let next = deliver(&waiting, now)
            var polled = taps.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            let timeout = min(Self.idleMilliseconds, max(0, (next ?? .infinity) - now))
            _ = poll(&polled, UInt(polled.count), Int32(timeout.rounded(.up)))
            for (from, entry) in polled.enumerated() where entry.revents & Int16(POLLIN) != 0 {
                // A few at a time, so that nobody shuts the others out.
                for _ in 0..<64 {
                    let bytes = read(taps[from].descriptor, &buffer, buffer.count)
                    guard bytes >= 14 else { break }
                    forward(Array(buffer[..<bytes]), from, &ports, &waiting, &random)
                }
            }
        }
    }

    private func forward(
        _ frame: [UInt8], _ from: Int, _ ports: inout [UInt64: Int], _ waiting: inout [[Waiting]], _ random: inout SplitMix64
    ) {
        func address(_ offset: Int) -> UInt64 { frame[offset..<offset + 6].reduce(0) { $0 << 8 | UInt64($1) } }
        func draw() -> Double { Double(random.next() >> 11) / 9_007_199_254_740_992 }
        ports[address(6)] = from
        let receivers = ports[address(0)].map { [$0] } ?? Array(0..<count)
        let now = Self.now()
        for to in receivers where to != from {
            let index = from * count + to
            let numbers = (draw(), draw())
            let arrival = state.withLock { state -> Double? in
                guard state.isPlugged[from], state.isPlugged[to], state.isJoined[index] else {
                    // Without a path there is nothing that could drop it.
                    return nil
                }
                return state.states[index].arrival(of: frame.count, at: now, over: state.links[index], random: numbers)
            }
            if let arrival { waiting[index].append(Waiting(arrival: arrival, to: to, frame: frame)) }
        }
    }

    /// Hands over what is due. Returns when the next frame is.
    private func deliver(_ waiting: inout [[Waiting]], _ now: Double) -> Double? {
        var next: Double?
        for index in waiting.indices where !waiting[index].isEmpty {
            let due = waiting[index].prefix { $0.arrival <= now }.count
            for entry in waiting[index].prefix(due) {
                // A frame on its way when the cable is pulled is lost.
                if state.withLock({ $0.isPlugged[entry.to] && $0.isJoined[index] }) {
                    _ = entry.frame.withUnsafeBytes { write(taps[entry.to].descriptor, $0.baseAddress, $0.count) }
                }
            }
            waiting[index].removeFirst(due)
            if let first = waiting[index].first { next = min(next ?? .infinity, first.arrival) }
        }
        return next
    }

    private func indices(_ pair: Scenario.Pair) -> [Int] {
        [pair.first * count + pair.second, pair.second * count + pair.first]
    }

    private static func now() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e6 }
}
#endif
