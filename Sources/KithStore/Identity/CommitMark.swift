import KithCausality
import KithLedger

/// The newest commit of an open store, as a line in the file that processes lock: noted after each commit, without waiting for the disk.
///
/// The sentinel learns of a commit when it is durable. A process may be killed before that, and an earlier copy of the
/// database, made while it was open, be put in the file's place: only this line tells then that commits are missing.
struct CommitMark {
    /// The mark of the opening, as in the sentinel.
    private let opening: String
    private var replica: ReplicaID?
    private var line: [UInt8] = []

    init(opening: String) {
        self.opening = opening
    }

    /// The line for a commit; all lines of an opening are equally long.
    mutating func line(for dot: Dot) -> [UInt8] {
        if replica != dot.replica {
            replica = dot.replica
            line = Array(Self.beginning(dot.replica.description, opening).utf8) + Array(repeating: UInt8(ascii: "0"), count: Self.digits)
            line.append(UInt8(ascii: "\n"))
        }
        var rest = dot.sequence
        for index in (line.count - 1 - Self.digits..<line.count - 1).reversed() {
            line[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        return line
    }

    /// Decimal digits of the largest sequence.
    private static let digits = 20

    /// The newest commit that a file tells of an opening of a database; `nil` if it tells nothing of that.
    static func sequence(in bytes: [UInt8], replica: String, opening: String) -> UInt64? {
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let beginning = beginning(replica, opening)
        return line.hasPrefix(beginning) ? UInt64(line.dropFirst(beginning.count)) : nil
    }

    private static func beginning(_ replica: String, _ opening: String) -> String { "\(replica) \(opening) " }
}
