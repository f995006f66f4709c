/// A reading of a monotonic clock. Where it counts from is of no consequence.
package struct Instant: Hashable, Sendable, Comparable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The instant `milliseconds` later, or the last there is.
    package func advanced(byMilliseconds milliseconds: Int64) -> Instant {
        let (sum, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
        return Instant(milliseconds: overflow ? (milliseconds < 0 ? .min : .max) : sum)
    }

    package static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }
}
