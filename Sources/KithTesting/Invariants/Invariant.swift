import GRDB
import KithCausality
import KithSync

/// A rule about many rows together, which holds whatever users do at the same time. An app states its own rules by ``always(_:_:)`` and
/// ``converged(_:_:)``. For each of the other rules the simulator has statements that keep it, and lets no other statement write the table.
public enum Invariant: Sendable {
    /// What the app calls `name` holds on every machine after everything that may change a row: each commit, merge and opening.
    ///
    ///     .always("each box counts its things") { db in
    ///         let wrong = try Int.fetchOne(db, sql: "SELECT count(*) FROM box WHERE …") ?? 0
    ///         return wrong == 0 ? nil : "\(wrong) boxes do not."
    ///     }
    ///
    /// The function reads, and returns what is wrong, or throws; `nil` if nothing is. It must hold of empty tables, too. The simulator's users
    /// write whatever the tables take, and a machine that catches up shows some rows of a transaction before the others. So state only what
    /// triggers, constraints and keys keep. The simulator asks machines with the newest version of the app alone, and none after a member
    /// has lied about rows.
    case always(_ name: String, _ problem: @Sendable (Database) throws -> String?)
    /// The same, on every machine once everything works again and all know the same: what merging must bring about.
    case converged(_ name: String, _ problem: @Sendable (Database) throws -> String?)
    /// Users only move amounts from one row of `table` to another, in counters: their sum is always 0.
    case sum(table: String, column: String)
    /// Each machine has a ring of rows of its own in `table`, where `column` names the next one, and only its user links them anew.
    ///
    /// A ring that several users relink at the same time would break, since each link is a register that shows one of them. A
    /// machine that was set back is several users in this sense: then rings are not looked at.
    case ring(table: String, column: String)
    /// Users put rows of `table` behind others, by the position in `column`: each stands where it was put at that moment, and no two positions
    /// are equal, so that the order is one on all machines that know the same.
    case order(table: String, column: String)

    /// The table that is left to the statements that keep it; `nil` for what the app states itself.
    var table: String? {
        switch self {
        case .sum(let table, _), .ring(let table, _), .order(let table, _): table
        case .always, .converged: nil
        }
    }

    /// What the app states itself.
    var stated: StatedInvariant? {
        switch self {
        case .always(let name, let body): StatedInvariant(name: name, isAlways: true, body: body)
        case .converged(let name, let body): StatedInvariant(name: name, isAlways: false, body: body)
        case .sum, .ring, .order: nil
        }
    }
}

/// An ``Invariant`` that the app states itself.
struct StatedInvariant: Sendable {
    let name: String
    /// Whether it holds at every moment, not only once all know the same.
    let isAlways: Bool
    let body: @Sendable (Database) throws -> String?

    /// What the app says is wrong.
    func problem(_ db: Database) -> String? {
        do {
            return try db.readOnly { try body(db) }
        } catch {
            return String(describing: error)
        }
    }
}

/// A statement that changes several rows and keeps an ``Invariant``.
public struct RowPair: Hashable, Sendable {
    /// What the statement does with its rows.
    public enum Verb: String, Hashable, Sendable, CaseIterable {
        /// Moves `amount` from the first row's counter to the second one's.
        case move
        /// Takes the first item out of the ring of the machine and puts it behind the second one.
        case relink
        /// Puts the first row, which is made if it is not there, right behind the second one, or first if that one is not there.
        case place
    }

    /// What it does.
    public var verb: Verb
    /// The table's name.
    public var table: String
    /// The column that the invariant is about.
    public var column: String
    /// What is moved; 0 if the ring is relinked.
    public var amount = 0
    /// A row's number, or an item's place in its ring, from 1.
    public var first: Int
    /// The other row, or place in the ring.
    public var second: Int
}

/// The ring of one machine: which item comes after which.
struct Ring {
    static let size = 5

    /// By item, the one that comes next; `nil` for an item that is not there or names no other.
    private(set) var next: [Int?]

    /// In the order of their numbers.
    static let whole = Ring(next: (0..<size).map { ($0 + 1) % size })

    init(next: [Int?]) {
        self.next = next
    }

    var isThere: Bool { next.contains { $0 != nil } }

    /// Whether who follows the links from any item comes by all others.
    var isWhole: Bool {
        var seen = 0
        var item = 0
        repeat {
            guard let following = next[item] else { return false }
            item = following
            seen += 1
        } while item != 0 && seen < next.count
        return item == 0 && seen == next.count
    }

    /// Puts `item` behind `other`. Returns the items whose link is another one now.
    mutating func put(_ item: Int, behind other: Int) -> [Int] {
        guard item != other, let before = next.firstIndex(of: item), before != other else { return [] }
        next[before] = next[item]
        next[item] = next[other]
        next[other] = item
        return [before, item, other]
    }

    /// Does what a statement says; makes the ring first if there is none. Returns the items whose link is another one now.
    mutating func change(_ pair: RowPair) -> [Int] {
        let isThere = isThere
        if !isThere { self = .whole }
        let changed = put(pair.first - 1, behind: pair.second - 1)
        return isThere ? changed : Array(next.indices)
    }

    // MARK: Rows

    /// The number of the row that is an item of a machine's ring.
    static func row(_ item: Int, of node: Int) -> Int { node * size + item + 1 }

    /// The ring of a machine as the values of the column that names the next row say it.
    init(of node: Int, _ table: WorkloadTable, values: [ColumnValue?]) {
        let ids = (0..<Self.size).map { table.key(of: Self.row($0, of: node)) }
        next = values.map { value in value.flatMap { value in ids.firstIndex(of: value) } }
    }

    /// What the column of `item` holds.
    func value(of item: Int, of node: Int, _ table: WorkloadTable) -> ColumnValue {
        next[item].map { table.key(of: Self.row($0, of: node)) } ?? .null
    }
}
