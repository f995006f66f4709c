/// Why the lab cannot do what was asked for.
package struct LabError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
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

    package let code: Code
    /// What happened, what it means, and what to do.
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
