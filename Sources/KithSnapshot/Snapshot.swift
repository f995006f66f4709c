import Foundation

/// What a query answered when it was written to a file, for programs that do not open the database.
public struct Snapshot<Content> {
    /// What the snapshot is called.
    public let name: String
    /// When it was written, by the clock of the machine.
    public let date: Date
    /// What the database held then.
    public let version: SnapshotVersion
    /// Until when it may be shown; `nil` for ever.
    public let validUntil: Date?
    /// When something in it will change without a write, such as a task that is due then: the moment at which to show it anew.
    public let nextMoment: Date?
    /// The answer.
    public let content: Content
    /// How many elements of a list could not be decoded and were left out.
    public let skipped: Int

    func with<Other>(_ content: Other, skipped: Int = 0) -> Snapshot<Other> {
        Snapshot<Other>(
            name: name, date: date, version: version, validUntil: validUntil, nextMoment: nextMoment, content: content, skipped: skipped)
    }
}

extension Snapshot: Sendable where Content: Sendable {}
extension Snapshot: Equatable where Content: Equatable {}

/// Which commits a snapshot stands for: of each device's file, by its id, how many.
public struct SnapshotVersion: Codable, Hashable, Sendable {
    /// The number of the last commit by the id of the file's replica, 32 hexadecimal digits.
    public let commits: [String: UInt64]

    package init(commits: [String: UInt64]) { self.commits = commits }

    /// Whether every commit that `other` stands for is in this one, too.
    public func includes(_ other: SnapshotVersion) -> Bool {
        other.commits.allSatisfy { commits[$0.key, default: 0] >= $0.value }
    }

    public init(from decoder: any Decoder) throws {
        commits = try decoder.singleValueContainer().decode([String: UInt64].self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(commits)
    }
}

/// What a reader finds.
public enum SnapshotReading<Content> {
    /// It is there, whole, and may be shown.
    case ok(Snapshot<Content>)
    /// There is no file: nothing was written yet, or the folder is another one.
    case missing
    /// It is whole, and past the time until which it may be shown: no process has written it since.
    case stale(Snapshot<Content>)
    /// Something else is in the file, or a part of it is gone.
    case damaged(SnapshotDamage)
    /// A newer version of the app has written it, in this version of the format.
    case newer(format: Int)

    /// The snapshot, if it is whole, stale or not.
    public var snapshot: Snapshot<Content>? {
        switch self {
        case .ok(let snapshot), .stale(let snapshot): snapshot
        case .missing, .damaged, .newer: nil
        }
    }
}

extension SnapshotReading: Sendable where Content: Sendable {}
extension SnapshotReading: Equatable where Content: Equatable {}

/// What is wrong with a file that should be a snapshot.
public enum SnapshotDamage: Error, Hashable, Sendable {
    /// It does not begin like one.
    case notASnapshot
    /// It is longer than ``SnapshotFormat/bytesMax``.
    case tooLong
    /// Its length is not what it says, or its checksum is not that of what follows.
    case changed
    /// What it says about itself cannot be read.
    case header
    /// What it holds is not what the reader expects.
    case content(String)
    /// The system does not let it be read.
    case unreadable(String)
}
