/// What a script says that cannot be understood.
public struct ScriptError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Counted from 1.
    public let line: Int
    /// What is wrong with the line.
    public let message: String

    public var description: String { "Line \(line) of the script: \(message)" }
}
