/// Why changes could not be carried by a file.
package struct CarryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is; stable, for programs.
    package enum Code: String, Hashable, Sendable {
        /// There is no such file, or nothing in the folder that was carried.
        case notFound
        /// The file was not made by `kith carry out`.
        case notCarried
        /// The file is sealed for others, as far as this device knows.
        case notForUs
        /// The file is damaged, or breaks off.
        case damaged
        /// Whoever made the file is no member of the household.
        case notAMember
        /// What the file says is against the rules, or of another app, household or version.
        case rejected
        /// Rows cannot be sent: there are commits here that nobody has proven, or one that is too large.
        case cannotSend
        /// No file can be made there, or something else is.
        case cannotCreate
        /// No room is left.
        case diskFull
        /// The file or the disk could not be read or written.
        case inputOutput
    }

    package let code: Code
    /// What happened, what it means, and what to do.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
