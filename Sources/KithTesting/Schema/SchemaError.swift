/// Why a schema cannot be simulated: what it has, what that means, and what to do.
public struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String

    init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}
