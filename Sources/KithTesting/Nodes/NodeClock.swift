import KithCausality
import Synchronization

/// The wall clock of a simulated machine, which may be wrong, fast, slow or stand still.
final class NodeClock: Sendable {
    private let reading = Atomic<Int64>(0)

    /// Milliseconds since 1970.
    var milliseconds: Int64 {
        get { reading.load(ordering: .relaxed) }
        set { reading.store(newValue, ordering: .relaxed) }
    }
}

/// How the wall clock of a machine follows virtual time.
struct ClockCourse {
    /// When all simulated worlds begin: 14 November 2023.
    static let epochMilliseconds: Int64 = 1_700_000_000_000

    private var since: Int64 = 0
    private var reading: Int64 = epochMilliseconds
    private var percent: Int64 = 100

    /// The reading at `now`, in milliseconds since 1970; never before 1970 nor in the year 2200.
    func reading(at now: Int64) -> Int64 {
        let end = HybridTimestamp.limit.milliseconds - 1
        return min(max(0, reading + (now - since) * percent / 100), end)
    }

    mutating func jump(byMilliseconds distance: Int64, at now: Int64) {
        reading = reading(at: now) + distance
        since = now
    }

    mutating func run(atPercent percent: Int, at now: Int64) {
        reading = reading(at: now)
        since = now
        self.percent = Int64(percent)
    }
}
