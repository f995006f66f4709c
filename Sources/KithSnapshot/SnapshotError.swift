/// Why a snapshot was not written. What was there before is there still.
public struct SnapshotError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is; stable, for programs.
    public enum Code: String, Hashable, Sendable {
        /// The query failed.
        case queryFailed
        /// The content cannot be encoded.
        case notEncodable
        /// It would be longer than ``SnapshotFormat/bytesMax``.
        case tooLong
        /// The disk is full.
        case diskFull
        /// The folder is not there, or cannot be written.
        case readOnly
        /// Something else lies there, which is left as it is.
        case notASnapshot
        /// Anything else that the system refused.
        case failed
    }

    /// Stable, for programs.
    public let code: Code
    /// What happened, and what to do.
    public let message: String

    package init(_ code: Code, _ message: String) {
        (self.code, self.message) = (code, message)
    }

    public var description: String { message }
}
