/// What is wrong with a scenario file, and where.
public struct ScenarioProblem: Hashable, Sendable, CustomStringConvertible {
    /// From 1 on.
    public let line: Int
    public let message: String

    public var description: String { "line \(line): \(message)" }
}

/// A scenario file that cannot be run; all that is wrong with it, in the order of its lines.
public struct ScenarioError: Error, Sendable, CustomStringConvertible {
    public let problems: [ScenarioProblem]

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
