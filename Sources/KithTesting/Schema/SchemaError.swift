/// Why a schema, or a run as it is set, cannot be simulated: what is wrong, what that means, and what to do.
public struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// For people: what is wrong, and what to do.
    public let message: String

    init(_ message: String) {
        self.message = message
    }

    public var description: String { message }

    static let migrationWritesRows = SchemaError(
        "The migration from the older version of the app inserts or changes rows of tables that synchronise. The simulator knows what users "
            + "write, and would take these for a fault. Leave that out of the schema.")
}
