/// Why the lab cannot do what was asked for.
public struct LabError: Error, Sendable, CustomStringConvertible {
    public enum Code: Sendable {
        /// The arguments or the scenario make no sense.
        case usage
        /// A file is not what it should be.
        case data
        /// A file is not there.
        case noInput
        /// This machine lacks something.
        case unavailable
        /// The report cannot be written.
        case cannotCreate
        case interrupted
        case software
    }

    public let code: Code
    /// What happened, what it means, and what to do.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
