import KithCausality
import KithLedger
import KithSync

/// A version of a text: the changes it contains that none of its other changes builds on. What an editor keeps as its base.
///
/// Means the same on every replica that has the changes, for as long as the row's history is kept.
public struct TextVersion: Hashable, Sendable {
    /// Sorted; none: before the first change.
    public let dots: [Dot]

    public init(_ dots: [Dot]) {
        self.dots = dots.sorted()
    }
}

extension TextVersion: LosslessStringConvertible {
    /// The changes as `replica.sequence`, with commas between them; `-` before the first change.
    public var description: String {
        dots.isEmpty ? "-" : dots.map { "\($0.replica).\($0.sequence)" }.joined(separator: ",")
    }

    public init?(_ description: String) {
        if description == "-" {
            self.init([])
            return
        }
        var dots: [Dot] = []
        for part in description.split(separator: ",", omittingEmptySubsequences: false) {
            let fields = part.split(separator: ".", omittingEmptySubsequences: false)
            guard fields.count == 2, let replica = ReplicaID(hexadecimal: fields[0]), let sequence = UInt64(fields[1]), sequence > 0
            else { return nil }
            dots.append(Dot(replica: replica, sequence: sequence))
        }
        self.init(dots)
    }
}

extension ReplicaID {
    /// The id with these 32 hexadecimal digits.
    fileprivate init?(hexadecimal digits: Substring) {
        guard digits.utf8.count == 32, digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
            let high = UInt64(digits.prefix(16), radix: 16), let low = UInt64(digits.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}

/// One change in the history of a text.
public struct TextRevision: Hashable, Sendable {
    /// The text as its author left it.
    public let version: TextVersion
    /// The author's commit and its time.
    public let stamp: Stamp
    /// Characters (Unicode scalars) that the change inserted.
    public let insertedScalars: Int
    /// Characters (Unicode scalars) that it deleted.
    public let deletedScalars: Int

    package init(version: TextVersion, stamp: Stamp, insertedScalars: Int, deletedScalars: Int) {
        self.version = version
        self.stamp = stamp
        self.insertedScalars = insertedScalars
        self.deletedScalars = deletedScalars
    }
}

/// A change of a text that a peer sent and that cannot be applied.
public struct RefusedTextChange: Hashable, Sendable {
    /// The app's table.
    public let table: String
    public let id: RowID
    /// The column of the table.
    public let column: String
    /// The commit, which names its author.
    public let dot: Dot
    /// What is wrong with it; `nil` while only a change it builds on is missing.
    public let reason: String?

    package init(table: String, id: RowID, column: String, dot: Dot, reason: String?) {
        self.table = table
        self.id = id
        self.column = column
        self.dot = dot
        self.reason = reason
    }
}
