/// A seed that failed, cut down to what it takes.
public struct Failure: Sendable, CustomStringConvertible {
    /// The seed of the run.
    public let seed: UInt64
    /// The promise that was broken, and how.
    public let violation: Violation
    /// The shortest script found that breaks the same promise.
    public let script: Script

    /// What failed, and how a test in Swift repeats it.
    public var description: String {
        description(
            howToRepeat: """
                Repeat it with a simulator of the same schema, where `text` is this script:
                    print(try simulator.trace(simulator.script(parsing: text)).trace.joined(separator: "\\n"))
                """)
    }

    /// What failed, and how it is repeated by whoever did not run it from a test.
    public func description(howToRepeat: String) -> String {
        """
        Seed \(seed) breaks a promise. \(violation)
        \(howToRepeat)

        \(script)
        """
    }
}
