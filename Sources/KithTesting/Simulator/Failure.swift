/// A seed that failed, cut down to what it takes.
public struct Failure: Sendable, CustomStringConvertible {
    public let seed: UInt64
    public let violation: Violation
    /// The shortest script found that breaks the same promise.
    public let script: Script

    public var description: String {
        """
        Seed \(seed) breaks a promise. \(violation)
        Save this script as failure.script and repeat it with: kith-sim --script failure.script --trace

        \(script)
        """
    }
}
