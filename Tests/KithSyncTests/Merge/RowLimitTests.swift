import KithCausality
import TestSupport
import Testing

@testable import KithSync

/// Risk: rows that many fill grow beyond what a frame carries, or the stores that make room never agree, or lose what they showed.
@Suite struct RowLimitTests {
    /// What one store knows of the row, with limits so small that they are met all the time.
    private struct Holder {
        static let limits: RowLimits = {
            var limits = RowLimits()
            limits.concurrent = 12
            limits.elements = 20
            return limits
        }()

        var replica: ReplicaID
        var row = RowState()
        var vector = VersionVector()

        mutating func stamp(_ time: UInt64) -> Stamp {
            let dot = Dot(replica: replica, sequence: vector[replica] + 1)
            vector.insert(dot)
            return Stamp(dot: dot, timestamp: HybridTimestamp(rawValue: time))
        }

        /// Merges all that another one knows. Returns whether it had to make room.
        mutating func receive(_ other: Holder, _ policy: DeletePolicy, time: UInt64) -> Bool {
            let before = vector[replica]
            row.merge(other.row, isWhole: true, knowing: vector, theirs: other.vector)
            vector.join(other.vector)
            let merged = row
            var (made, stamped) = (Optional<Stamp>.none, self)
            row.condense(Self.limits, policy: policy) {
                if made == nil { made = stamped.stamp(time) }
                return made ?? stamped.stamp(time)
            }
            vector = stamped.vector
            #expect(row.exceededLimit(Self.limits) == nil)
            #expect(row.isVisible(policy) == merged.isVisible(policy))
            if case .register(let register)? = row[0], case .register(let whole)? = merged[0] {
                #expect(register.shown?.value == whole.shown?.value)
            }
            return vector[replica] > before
        }
    }

    private static func fill(_ holder: inout Holder, _ time: inout UInt64, using random: inout SplitMix64) {
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            time += 1
            let stamp = holder.stamp(time)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                // A liar's replica: its own writes do not replace each other.
                guard case .register(var state) = holder.row[0] ?? Cell(empty: .register) else { return }
                state.add(Write(stamp: stamp, value: .integer(.random(in: 0...5, using: &random))))
                holder.row[0] = .register(state)
            case 3...5:
                guard case .set(var state) = holder.row[1] ?? Cell(empty: .set) else { return }
                let elements = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    Array("\(Int.random(in: 100...160, using: &random))".utf8)
                }
                state.add(SetState.distinct(elements), dot: stamp.dot)
                holder.row[1] = .set(state)
            case 6:
                holder.row.tombstones.append(Tombstone(dot: stamp.dot, seen: holder.row.clock))
                holder.row.tombstones.sort { $0.dot < $1.dot }
            default:
                guard case .text(var state) = holder.row[2] ?? Cell(empty: .text) else { return }
                state.present = (state.present + [stamp.dot]).sorted()
                state.touched.insert(stamp.dot)
                holder.row[2] = .text(state)
            }
        }
    }

    @Test(arguments: 0..<UInt64(Soak.count(60, soaking: 200))) func `in whatever order stores merge, all come to one row, which fits`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        let policy: DeletePolicy = Bool.random(using: &random) ? .updateWins : .deleteWins
        var holders = (1...5).map { Holder(replica: ReplicaID(high: 0, low: $0)) }
        var time: UInt64 = 1
        for _ in 0..<3 {
            for index in holders.indices { Self.fill(&holders[index], &time, using: &random) }
            for _ in 0..<4 {
                let (from, to) = (Int.random(in: 0..<5, using: &random), Int.random(in: 0..<5, using: &random))
                time += 1
                if from != to { _ = holders[to].receive(holders[from], policy, time: time) }
            }
        }
        // All exchange at once, which is the worst case for those who make room.
        var rounds = 0
        while Set(holders.map(\.vector)).count > 1, rounds < 20 {
            rounds += 1
            let before = holders
            for to in holders.indices {
                for from in before.indices.shuffled(using: &random) where from != to {
                    time += 1
                    _ = holders[to].receive(before[from], policy, time: time)
                }
            }
        }
        #expect(rounds < 20)
        for holder in holders { #expect(holder.row == holders[0].row) }
    }

    @Test func `who fills a set does not drive out what others have added`() {
        var set = SetState()
        for number in 0..<5 as Range<UInt64> {
            set.add([Array("honest \(number)".utf8)], dot: Dot(replica: ReplicaID(high: 0, low: number), sequence: 1))
        }
        for number in 0..<100 as Range<UInt64> {
            set.add([Array("junk \(number)".utf8)], dot: Dot(replica: ReplicaID(high: 9, low: number % 2), sequence: number + 1))
        }
        var row = RowState(cells: [.init(column: 0, cell: .set(set))])
        row.condense(Holder.limits, policy: .updateWins) {
            Stamp(dot: Dot(replica: ReplicaID(high: 0, low: 7), sequence: 1), timestamp: .zero)
        }
        guard case .set(let left)? = row[0] else { return #expect(Bool(false)) }
        #expect(left.elements.count == 20)
        #expect(left.elements.count { $0.json.starts(with: Array("honest".utf8)) } == 5)
    }

    @Test func `the earliest found values of a counter are those of the earliest, in any order`() {
        func state(_ replica: UInt64, _ times: ClosedRange<UInt64>) -> CounterState {
            CounterState(
                bases: times.map {
                    let dot = Dot(replica: ReplicaID(high: 0, low: replica), sequence: $0)
                    return .init(stamp: Stamp(dot: dot, timestamp: HybridTimestamp(rawValue: $0 * 7 % 131_071), isAdopted: true), amount: 1)
                })
        }
        let parts = [state(1, 1...64_000), state(2, 1...48_000), state(3, 32_000...96_000)]
        var results: Set<CounterState> = []
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]] {
            var state = CounterState()
            for index in order { state.merge(parts[index]) }
            #expect(state.bases.count == WireLimits.replicasMax)
            results.insert(state)
        }
        #expect(results.count == 1)
    }
}
