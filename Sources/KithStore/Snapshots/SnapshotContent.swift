import Foundation
import KithSnapshot

/// What a query says of its answer, beside the answer: see ``SyncedDatabase/snapshot(_:to:options:content:)``.
public struct SnapshotContent<Value: Encodable & Sendable>: Sendable {
    /// The answer.
    public let value: Value
    /// When the answer will be another one without a write, such as a task that is due then. The query is asked anew at that moment.
    public let nextMoment: Date?
    /// Until when the answer may be shown; after that, readers say that it is stale.
    public let validUntil: Date?

    public init(_ value: Value, nextMoment: Date? = nil, validUntil: Date? = nil) {
        self.value = value
        self.nextMoment = nextMoment
        self.validUntil = validUntil
    }
}

/// How a snapshot is kept.
public struct SnapshotOptions: Sendable {
    /// The shortest time between two looks at the database, for queries that cost a lot.
    public var atMostEvery = Duration.zero
    /// For how long readers may show what was written last. It is written anew when half of that has passed, so a snapshot that is stale
    /// means that no process keeps it. `nil`: for ever, unless the content says otherwise.
    public var validFor: Duration?
    /// Writes the content; JSON with ISO 8601 dates without it. The same content must give the same bytes.
    public var encode: (@Sendable (any Encodable & Sendable) throws -> Data)?
    /// What the file says of how its content is written.
    public var encoding = "json"
    /// What time it is.
    public var now: @Sendable () -> Date = { Date() }

    public init() {}
}

/// How things stand with a snapshot that this process keeps.
public struct SnapshotStatus: Hashable, Sendable {
    /// When the query was asked last with success; `nil` if it was not.
    public internal(set) var looked: Date?
    /// When the file was written last by this process; `nil` if it was not.
    public internal(set) var written: Date?
    /// How often it was written.
    public internal(set) var writes = 0
    /// Why the file is not what it should be; `nil` if it is.
    public internal(set) var error: SnapshotError?
    /// When it is tried again, if there is an error; a commit does so, too.
    public internal(set) var retry: Date?
}
