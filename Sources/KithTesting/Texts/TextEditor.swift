import GRDB
import KithStore
import KithSync

/// Where and how much a statement edits, from the one number that scripts write.
struct TextPlace {
    static let numberMax = 99_999
    private let number: Int

    /// `nil` if the script gives no number from 0 to ``numberMax``.
    init?(_ literal: Literal?) {
        guard case .integer(let number)? = literal?.value, number >= 0, number <= Self.numberMax else { return nil }
        self.number = Int(number)
    }

    /// Before which character of a text of so many: the last three digits.
    func position(in count: Int) -> Int { number % 1_000 % (count + 1) }
    /// How many characters are typed: 1 to 4.
    var typed: Int { 1 + number / 1_000 % 4 }
    /// How many are deleted: 0 to 4.
    var erased: Int { number / 4_000 % 5 }
    /// Whether a save goes through the API and not through SQL.
    var usesVersion: Bool { number % 2 == 1 }
}

/// What a statement typed and deleted.
struct TextEdit {
    var typed: [Unicode.Scalar] = []
    var erased: [Unicode.Scalar] = []

    var isEmpty: Bool { typed.isEmpty && erased.isEmpty }
}

/// The editor of one user: types into texts, and keeps some open while others write.
final class TextEditor {
    struct Text: Hashable {
        let table: String
        let key: String
        let id: RowID
        /// The id as the table holds it.
        let name: ColumnValue
        let column: String

        init(table: WorkloadTable, row: Int, column: String) {
            (self.table, key, id, name, self.column) = (table.name, table.key, table.id(of: row), table.key(of: row), column)
        }

        fileprivate var place: String { "\(quoted(table)) WHERE \(quoted(key)) = ?" }
    }

    /// A text as it was loaded.
    private struct Base {
        let text: String
        let version: TextVersion
    }

    private let characters: CharacterSource
    private var bases: [Text: Base] = [:]
    /// Whether rows are removed for good, and the versions of their texts with them; or a lie may have taken texts along; or texts were found,
    /// whose rows begin another text when they are inserted anew.
    var versionsMayBeGone = false

    init(_ characters: CharacterSource) {
        self.characters = characters
    }

    func closeAll() {
        bases = [:]
    }

    /// Loads a text, if its row is there.
    func open(_ text: Text, _ store: SyncedDatabase, _ database: any DatabaseWriter) throws {
        guard let current = try database.writeWithoutTransaction({ try read(text, $0) }) else { return }
        let version = try store.textVersion(table: text.table, id: text.id, column: text.column)
        bases[text] = Base(text: current ?? "", version: version)
    }

    /// Edits a text with plain SQL, or saves what was edited since it was opened.
    func perform(_ verb: RowWrite.Verb, _ text: Text, _ place: TextPlace, _ store: SyncedDatabase, _ db: Database) throws -> WriteOutcome {
        guard let current = try read(text, db) else { return WriteOutcome(tookEffect: false) }
        if verb == .open { return WriteOutcome(tookEffect: true) }
        let base = verb == .save ? bases.removeValue(forKey: text) : nil
        let loaded = base?.text ?? current ?? ""
        let (new, edit) = edited(loaded, verb, place)
        if edit.isEmpty { return WriteOutcome(tookEffect: true) }
        let isSaved = if let base, place.usesVersion { try save(text, new, base, store, db) } else { false }
        if !isSaved {
            let value = verb == .save ? "kith_text(?, ?, \(quoted(text.column)))" : "?"
            let sql = "UPDATE \(quoted(text.table)) SET \(quoted(text.column)) = \(value) WHERE \(quoted(text.key)) = ?"
            let texts = (verb == .save ? [new, loaded] : [new]).map(\.databaseValue)
            try db.execute(sql: sql, arguments: StatementArguments(texts + [text.name.databaseValue]))
        }
        return WriteOutcome(tookEffect: true, edit: edit)
    }

    /// Saves against the version that was loaded; `false` if the row shows another text since: its id was used again.
    private func save(_ text: Text, _ new: String, _ base: Base, _ store: SyncedDatabase, _ db: Database) throws -> Bool {
        do {
            try store.saveText(db, table: text.table, id: text.id, column: text.column, new, base: base.version)
            return true
        } catch {
            if error.code == .notFound, versionsMayBeGone { return false }
            throw error
        }
    }

    /// The current text, which may be NULL; `nil` if there is no such row.
    private func read(_ text: Text, _ db: Database) throws -> String?? {
        let sql = "SELECT \(quoted(text.column)) FROM \(text.place)"
        guard let row = try Row.fetchOne(db, sql: sql, arguments: [text.name.databaseValue]) else { return nil }
        return .some(row[0] as String?)
    }

    private func edited(_ text: String, _ verb: RowWrite.Verb, _ place: TextPlace) -> (new: String, edit: TextEdit) {
        var scalars = Array(text.unicodeScalars)
        let start = place.position(in: scalars.count)
        let count = min(verb == .erase ? place.typed : place.erased, scalars.count - start)
        var edit = TextEdit()
        edit.erased = Array(scalars[start..<start + count])
        if verb != .erase { edit.typed = Array(characters.next(place.typed).unicodeScalars) }
        scalars.replaceSubrange(start..<start + count, with: edit.typed)
        return (String(String.UnicodeScalarView(scalars)), edit)
    }
}
