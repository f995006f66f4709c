/// One thing that happens in a script. Nodes are numbered from 0 and written as A, B, C, …
public enum Step: Hashable, Sendable {
    /// Time passes.
    case wait(milliseconds: Int64)
    /// A user commits one transaction.
    case commit(node: Int, [UserOperation])

    /// The connection breaks, and is dialled again later.
    case drop(Int, Int)
    /// The link breaks and stays broken.
    case cut(Int, Int)
    /// The link works again.
    case join(Int, Int)
    /// What is sent in this direction stays under way, as behind a wall that only lets acknowledgements of the kernel pass.
    case clog(from: Int, to: Int)
    case unclog(from: Int, to: Int)
    /// Both bring each other up to date, whatever the state of their link.
    case sync(Int, Int)

    /// What is sent in this direction takes this much longer.
    case slow(from: Int, to: Int, milliseconds: Int64)

    /// The process dies without a word.
    case crash(Int)
    /// The machine loses its power after this many more writes and syncs of its disk, and forgets what was not synced.
    case losePower(node: Int, afterWrites: Int)
    /// It is started again.
    case start(Int)
    /// The machine falls asleep, with the process as it is: it hears of nothing and does nothing, while the others go on.
    case nap(Int)
    case wake(Int)
    /// All machines sleep: connections die, time passes.
    case sleep(hours: Int64)

    /// The wall clock of a node is set forward or back.
    case setClock(node: Int, byMilliseconds: Int64)
    /// The wall clock of a node runs at this speed; 0 stands still.
    case runClock(node: Int, percent: Int)

    /// The disk of a node takes this many writes and syncs more.
    case fillDisk(node: Int, afterWrites: Int)
    case freeDisk(node: Int)
    /// The disk of a node answers every write and sync with an error, after this many more.
    case breakDisk(node: Int, afterWrites: Int)
    case mendDisk(Int)

    /// A backup of the node's database is made.
    case backup(Int)
    /// The node's database is replaced by its last backup.
    case restore(Int)
    /// A whole machine goes back to what it was at its last backup, as a virtual one does to a snapshot: what lies beside the database, too.
    case revert(Int)
    /// The database of the second node is replaced by a copy of the first one's.
    case clone(from: Int, to: Int)

    /// A row stood in a node's table before that was tracked for the first time: when the node begins, or when an update brings the table.
    case found(node: Int, RowWrite)
    /// A node begins, which was not there before.
    case begin(Int)

    /// The app on a node is replaced by its newer version. Such a node begins with the older one.
    case update(Int)
    /// A node throws away deleted rows that have left the trash and that all others have heard of.
    case collect(Int)
    /// Another member revokes a node: the others refuse it as soon as they hear of it.
    case revoke(Int)

    /// A node writes into a file what another one lacks, or all others do, and puts it on a stick.
    case carryOut(node: Int, stick: Int, to: Int?)
    /// A node reads the files on a stick, in any order, perhaps not to their end. They stay there.
    case carryIn(node: Int, stick: Int)
    /// A stick is lost, with what is on it.
    case loseStick(Int)

    /// The next frame in this direction says something else than what was meant, in good form.
    case forge(from: Int, to: Int)
    /// The first node tells the second one a lie, ahead of its next frame: what no store would say, about commits, rows or itself.
    case lie(from: Int, to: Int)
    /// The first node shows the second one, ahead of its next frame, records of the household that are false, cut, contradictory or too many; or
    /// revokes a device, itself perhaps, and shows that to the second node alone.
    case lieRecords(from: Int, to: Int)
    /// The next frame in this direction arrives damaged.
    case damage(from: Int, to: Int)
}

/// One statement of a user's transaction.
public enum UserOperation: Hashable, Sendable {
    case write(RowWrite)
    case pair(RowPair)
    case savepoint
    /// Undoes everything since the last savepoint.
    case undo
    /// Rolls the whole transaction back. Only as the last.
    case rollback
}

/// A statement that concerns one row.
public struct RowWrite: Hashable, Sendable {
    /// What the statement does with its row.
    public enum Verb: String, Hashable, Sendable, CaseIterable {
        /// `INSERT`; fails if the row is there.
        case insert
        /// `UPDATE`; does nothing if the row is not there.
        case update
        /// `INSERT … ON CONFLICT DO UPDATE`.
        case upsert
        /// `INSERT OR REPLACE`: columns not named take their default.
        case replace
        /// `INSERT OR REPLACE … SELECT`: writes the row again as it is, but for the columns named; does nothing if the row is not there.
        case rewrite
        case delete
        /// Keeps the value and supersedes all alternatives known.
        case resolve
        /// Adds an element to a set.
        case add
        /// Removes an element from a set.
        case remove
        /// Adds a number to a counter.
        case count
        /// Types new characters into a text, where the value says: see ``TextPlace``.
        case type
        /// Deletes characters of a text.
        case erase
        /// Opens a text in an editor, once the transaction is committed.
        case open
        /// Changes what was opened and saves it against that, whatever was written since; what was not opened is opened first.
        case save

        /// Whether it is for columns with texts, and its value is a ``TextPlace``.
        var editsText: Bool {
            switch self {
            case .type, .erase, .open, .save: true
            case .insert, .update, .upsert, .replace, .rewrite, .delete, .resolve, .add, .remove, .count: false
            }
        }
    }

    /// What it does.
    public var verb: Verb
    /// The table's name.
    public var table: String
    /// The row's number, from which its id follows.
    public var row: Int
    /// What it writes, in order.
    public var assignments: [Assignment]

    public init(_ verb: Verb, _ table: String, _ row: Int, _ assignments: [Assignment] = []) {
        self.verb = verb
        self.table = table
        self.row = row
        self.assignments = assignments
    }
}

/// A column and the value that a statement gives it.
public struct Assignment: Hashable, Sendable {
    /// The column's name.
    public var column: String
    /// What it gets.
    public var value: Literal

    public init(_ column: String, _ value: Literal) {
        self.column = column
        self.value = value
    }
}
