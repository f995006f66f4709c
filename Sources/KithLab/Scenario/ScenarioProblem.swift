/// What is wrong with a scenario file, and where.
package struct ScenarioProblem: Hashable, Sendable, CustomStringConvertible {
    /// From 1 on.
    package let line: Int
    package let message: String

    package var description: String { "line \(line): \(message)" }
}

/// A scenario file that cannot be run; all that is wrong with it, in the order of its lines.
package struct ScenarioError: Error, Sendable, CustomStringConvertible {
    package let problems: [ScenarioProblem]

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
