import Foundation
import GRDB
import Kith

/// What each machine has changed.
extension NotesStore {
    /// What was changed since a moment, the newest first: at most `limit` entries, each with what one device has changed of one note in one
    /// transaction, what it attached and detached there included.
    ///
    /// - Parameter devices: whose changes alone; `nil` for everybody's.
    public func changes(since date: Date, devices: Set<Author>? = nil, limit: Int = 200) throws(NotesError) -> [NoteChange] {
        // More are no list that anybody reads.
        let limit = min(max(0, limit), 1_000_000)
        return try NotesError.mapping {
            var entries: [(transaction: HistoryTransaction, change: HistoryChange)] = []
            var token: HistoryToken?
            repeat {
                let page = try store.history(after: token, limit: 1_000)
                guard let last = page.last else { break }
                token = last.token
                for transaction in page where transaction.date >= date {
                    for change in transaction.changes where [NotesSchema.table, NotesSchema.attachmentTable].contains(change.table) {
                        if let devices, change.device.map(devices.contains) != true { continue }
                        entries.append((transaction, change))
                    }
                }
                // A file is attached in a transaction that changes its note, too.
                if entries.count > 4 * limit { entries.removeFirst(entries.count - 2 * limit) }
            } while true
            return try named(try byNote(entries).suffix(limit).reversed())
        }
    }

    /// One entry for each note that a transaction has changed, with what became of its attachments.
    private func byNote(_ entries: [(transaction: HistoryTransaction, change: HistoryChange)]) throws -> [NoteChange] {
        struct Place: Hashable {
            let token: HistoryToken
            let note: UUID
            let device: Author?
        }
        let files = try attachments(in: entries.map(\.change))
        var changes: [NoteChange] = []
        var places: [Place: Int] = [:]
        for (transaction, change) in entries {
            let file = change.table == NotesSchema.attachmentTable ? files[change.row] : nil
            guard let note = file?.note ?? (change.table == NotesSchema.table ? UUID(change.row) : nil) else { continue }
            let place = Place(token: transaction.token, note: note, device: change.device)
            let index = places[place] ?? changes.count
            if index == changes.count {
                places[place] = index
                changes.append(NoteChange(of: note, transaction, by: change.device))
            }
            guard let file else {
                changes[index].take(change)
                continue
            }
            switch change.kind {
            case .insert: changes[index].attached.append(file.name)
            case .delete: changes[index].detached.append(file.name)
            case .update: break
            }
        }
        return changes
    }

    /// Of which note each attachment is or was, and what it is called, as far as that is known.
    private func attachments(in changes: [HistoryChange]) throws -> [RowID: (note: UUID, name: String)] {
        var found: [RowID: (note: UUID, name: String)] = [:]
        try database.read { db in
            for change in changes where change.table == NotesSchema.attachmentTable {
                if change.kind == .delete {
                    guard case .value(.blob(let note), _)? = change.columns["note"], let note = RowID(bytes: note) else { continue }
                    found[change.row] = (UUID(note), change.text(of: "name"))
                } else if found[change.row] == nil {
                    let sql = "SELECT note, name FROM attachment WHERE id = ?"
                    guard let row = try Row.fetchOne(db, sql: sql, arguments: [Data(change.row.bytes)]),
                        let note = Data.fromDatabaseValue(row[0]), let note = RowID(bytes: note)
                    else { continue }
                    // Another device may have written any value.
                    found[change.row] = (UUID(note), String.fromDatabaseValue(row[1]) ?? "")
                }
            }
        }
        return found
    }

    /// Notes that are there have the titles that they have now, others those that they had when they were deleted, as far as that is known.
    private func named(_ changes: [NoteChange]) throws -> [NoteChange] {
        var titles: [UUID: String] = [:]
        try database.read { db in
            for id in Set(changes.map(\.note)) { titles[id] = try Self.fetch(id, db)?.title }
        }
        if changes.contains(where: { titles[$0.note] == nil }) {
            for deleted in try trash() where titles[deleted.id] == nil { titles[deleted.id] = deleted.note.title }
        }
        return changes.map { change in
            var change = change
            if let title = titles[change.note] { change.title = title }
            return change
        }
    }
}

/// A change of one note.
public struct NoteChange: Hashable, Sendable {
    /// The note.
    public let note: UUID
    /// What it is called now, or was when it was deleted; empty if that is not known.
    public internal(set) var title: String
    /// What became of it.
    public private(set) var kind = HistoryChange.Kind.update
    /// The fields that are different, by the names of their columns.
    public private(set) var fields: [String: HistoryChange.Column] = [:]
    /// The names of the files that were attached to it, those of a restored note included.
    public internal(set) var attached: [String] = []
    /// The names of the files that were detached from it, those of a deleted note included.
    public internal(set) var detached: [String] = []
    /// Whose change it is; `nil` if a merge brought several devices' at once.
    public let device: Author?
    /// When it was made or came here, by this machine's clock.
    public let date: Date

    init(of note: UUID, _ transaction: HistoryTransaction, by device: Author?) {
        (self.note, self.device, date, title) = (note, device, transaction.date, "")
    }

    /// Adds what became of the note's own row.
    mutating func take(_ change: HistoryChange) {
        kind = change.kind
        fields = change.columns.filter { $0.key != "updated" }
        title = change.text(of: "title")
    }
}

extension HistoryChange {
    /// What a column of text held before.
    fileprivate func text(of column: String) -> String {
        guard case .value(.text(let bytes), _)? = columns[column] else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
