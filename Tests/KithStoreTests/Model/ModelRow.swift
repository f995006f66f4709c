/// The reference model of the merge rules, written down again in Swift and independent of the code under test: plain
/// dictionaries, no thought of speed. See docs/semantics of the specification's `reference_model.py` and `slices_model.py`.
enum Model {
    struct Dot: Hashable, Comparable {
        let replica: String
        let sequence: UInt64

        static func < (left: Dot, right: Dot) -> Bool {
            (left.replica, left.sequence) < (right.replica, right.sequence)
        }
    }

    typealias Vector = [String: UInt64]

    static func covers(_ vector: Vector, _ dot: Dot) -> Bool { vector[dot.replica, default: 0] >= dot.sequence }

    static func join(_ left: Vector, _ right: Vector) -> Vector { left.merging(right, uniquingKeysWith: max) }

    /// What survives when both sides know what they know.
    static func keep(_ mine: Set<Dot>, _ myVector: Vector, _ theirs: Set<Dot>, _ theirVector: Vector) -> Set<Dot> {
        mine.filter { theirs.contains($0) || !covers(theirVector, $0) }
            .union(theirs.filter { mine.contains($0) || !covers(myVector, $0) })
    }

    enum Content: Hashable, Comparable {
        case integer(Int64)
        case string(String)
    }

    struct Write: Equatable {
        let timestamp: UInt64
        let value: Content
    }

    struct SetCell: Equatable {
        var elements: [String: Set<Dot>] = [:]
        var touched: Vector = [:]
    }

    struct Total: Equatable {
        let sequence: UInt64
        let amount: Int64
    }

    struct Row: Equatable {
        var registers: [String: [Dot: Write]] = [:]
        var sets: [String: SetCell] = [:]
        var counters: [String: [String: Total]] = [:]
        var tombstones: [Dot: Vector] = [:]
        var context: Vector = [:]

        var cellDots: [Dot] {
            registers.values.flatMap(\.keys)
                + sets.values.flatMap { $0.touched.map { Dot(replica: $0, sequence: $1) } }
                + counters.values.flatMap { $0.map { Dot(replica: $0, sequence: $1.sequence) } }
        }

        var clock: Vector {
            var clock: Vector = [:]
            for dot in cellDots { clock = join(clock, [dot.replica: dot.sequence]) }
            for (dot, seen) in tombstones { clock = join(join(clock, seen), [dot.replica: dot.sequence]) }
            return clock
        }
    }

    static func winner(_ writes: [Dot: Write]) -> Dot? {
        writes.max { ($0.value.timestamp, $0.key) < ($1.value.timestamp, $1.key) }?.key
    }
}
