import Foundation
import GRDB
import Kith
import KithSync
import Synchronization

extension NotesStore {
    /// Brings the index up to date that searches use. A search does so itself; before, it saves the searcher the time.
    ///
    /// - Throws: ``NotesError`` with code `busy`, `diskFull`, `readOnly`.
    public func updateSearchIndex() throws(NotesError) { try updateSearchIndex(leaving: 0.1) { false } }

    /// - Parameters:
    ///   - share: how long the index leaves the lock to other writers between its transactions, as a multiple of how long it has held it.
    ///     Another process tries the lock only from time to time, and would find it taken each time otherwise.
    ///   - isStopped: says whether to leave the rest for another time.
    private func updateSearchIndex(leaving share: Double, _ isStopped: () -> Bool) throws(NotesError) {
        try NotesError.mapping {
            let mending = try store.mending()
            let known = SearchIndex.State(try store.vector(), mending)
            let indexed = try database.read(SearchIndex.state)
            if indexed == known { return }
            guard let indexed, indexed.mended == known.mended, known.vector.covers(indexed.vector) else {
                return try rebuildSearchIndex(known, leaving: share, isStopped)
            }
            let slice = try store.slice(SliceRequest(since: indexed.vector))
            // So much has changed that a look at all notes takes no longer. A listing says nothing of what is gone.
            guard slice.isLast, slice.listing == nil else { return try rebuildSearchIndex(known, leaving: share, isStopped) }
            let rows = slice.rows.filter { slice.tables[$0.table].name == Array(NotesSchema.table.utf8) }
            guard try bringIn(rows.map { Data($0.id.bytes) }, leaving: share, isStopped) else { return }
            try database.write { db in try SearchIndex.setState(SearchIndex.State(slice.vector, mending), db) }
        }
    }

    /// Compares the index with all notes, and mends it.
    private func rebuildSearchIndex(_ known: SearchIndex.State, leaving share: Double, _ isStopped: () -> Bool) throws {
        try database.write { db in try SearchIndex.dropStrays(db) }
        var next: Data? = Data()
        while let place = next {
            let (ids, following) = try database.read { db in try SearchIndex.suspects(after: place, db) }
            guard try bringIn(ids, leaving: share, isStopped) else { return }
            next = following
        }
        guard try bringIn(database.read(SearchIndex.leftovers), leaving: share, isStopped) else { return }
        try database.write { db in try SearchIndex.setState(known, db) }
    }

    /// Brings in notes by short transactions, between which the app and other processes may write; `false` if it was stopped.
    private func bringIn(_ ids: [Data], leaving share: Double, _ isStopped: () -> Bool) throws -> Bool {
        var rest = ids[...]
        while !rest.isEmpty {
            if isStopped() { return false }
            var held = Duration.zero
            rest = try database.write { db in
                let start = ContinuousClock.now
                defer { held = start.duration(to: .now) }
                return try SearchIndex.bringIn(rest, db) { start.duration(to: .now) >= Self.indexPortion }
            }
            if !rest.isEmpty { Thread.sleep(forTimeInterval: min(held / .seconds(1) * share, 1)) }
        }
        return true
    }

    /// Keeps the index in step with the notes until the task is cancelled, whether this process or another one changes them. For a process
    /// that runs for long.
    public func keepSearchIndex() async {
        let commits = store.commits
        repeat {
            await updateSearchIndexOnThread()
            try? await Task.sleep(for: .milliseconds(Self.indexPauseMilliseconds))
        } while await commits.first { true } != nil && !Task.isCancelled
    }

    /// On a thread of its own, since that may take seconds, until the task is cancelled.
    private func updateSearchIndexOnThread() async {
        let isStopped = Mutex(false)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global(qos: .utility).async {
                    // What fails now is done by the next search.
                    try? self.updateSearchIndex(leaving: 1) { isStopped.withLock { $0 } }
                    continuation.resume()
                }
            }
        } onCancel: {
            isStopped.withLock { $0 = true }
        }
    }

    /// How long one transaction brings notes into the index; the last note may take longer. Meanwhile nothing else can be written.
    private static let indexPortion = Duration.milliseconds(50)
    /// Commits within this time are brought in together.
    private static let indexPauseMilliseconds = 300
    /// More results than these are in no order of rank: the words say nothing.
    static let rankedMax = 2_000
    /// More are neither counted nor listed.
    static let resultsMax = 5_000
    private static let marks = ("\u{2}", "\u{3}")

    /// A part of what a search finds, best first: a title counts more than a tag, and a tag more than a text. Notes of which a version is
    /// kept that is not shown, and in which the words occur, come before the others.
    ///
    /// If no note has all of the words, each with which no word at all begins is looked for as a part of words.
    ///
    /// - Throws: ``NotesError`` if the notes cannot be read.
    public func search(_ text: SearchText, offset: Int, count: Int) throws(NotesError) -> NotePage {
        let (offset, count) = (max(0, offset), max(0, count))
        if readOnlyReason != nil { return try page(NoteQuery(lookingFor: text), offset: offset, count: count) }
        if text.usesIndex { try updateSearchIndex() }
        let found = try ranked(text, offset: offset, count: count)
        if found.total > 0 || !text.isAboutBeginnings { return found }
        if text.hasSigns { return try page(NoteQuery(lookingFor: text, amongLatest: true), offset: offset, count: count) }
        guard let wider = try widened(text) else { return found }
        return try ranked(wider, offset: offset, count: count)
    }

    /// A search that finds words by a part of them, where it would find none by its beginning; `nil` if that finds nothing either.
    func widened(_ text: SearchText) throws(NotesError) -> SearchText? {
        try NotesError.mapping {
            try database.read { db in
                var parts: [String] = []
                var isWider = false
                for term in text.terms {
                    let isBeginning = try Bool.fetchOne(
                        db, sql: "SELECT EXISTS (SELECT 1 FROM note_search WHERE note_search MATCH ?)", arguments: [term.match])
                    if isBeginning == true {
                        parts.append(term.match)
                        continue
                    }
                    guard let match = try IndexWord.match(partly: term.text, notesMax: Self.resultsMax, db) else { return nil }
                    parts.append(match)
                    isWider = true
                }
                if !isWider { return nil }
                var wider = text
                wider.widerMatch = parts.joined(separator: " AND ")
                return wider
            }
        }
    }

    /// What the index finds, best first.
    private func ranked(_ text: SearchText, offset: Int, count: Int) throws(NotesError) -> NotePage {
        guard let match = text.match else { return try filtered(text, offset: offset, count: count) }
        let kept = try keptVersions(matching: text)
        let keptIDs = kept.map { Data(RowID($0.id).bytes) }
        let found = try NotesError.mapping {
            try database.read { db in
                try Self.matches(text, match, besides: keptIDs, db, offset: max(0, offset - kept.count), count: count)
            }
        }
        let first = offset < kept.count ? kept[offset...].prefix(count).map { NotePage.Entry(note: $0, snippet: nil) } : []
        return NotePage(
            total: found.total + kept.count, offset: offset, entries: first + found.entries.prefix(max(0, count - first.count)))
    }

    private static func matches(
        _ text: SearchText, _ match: String, besides kept: [Data], _ db: Database, offset: Int, count: Int
    ) throws -> NotePage {
        var arguments: [any DatabaseValueConvertible] = [[match, text.tagMatch].compactMap(\.self).joined(separator: " AND ")]
        var sql = " WHERE note_search MATCH ?"
        if !kept.isEmpty {
            let keys = try Int64.fetchAll(
                db, sql: "SELECT key FROM note_search_key WHERE id IN (\(kept.map { _ in "?" }.joined(separator: ", ")))",
                arguments: StatementArguments(kept))
            sql += " AND +note_search.rowid NOT IN (\(keys.map(String.init).joined(separator: ", ")))"
        }
        for filter in text.filters {
            sql += " AND (\(filter.sql))"
            arguments += filter.arguments
        }
        // In this order: asked for one note after the other, the index would look for all that has the words each time.
        let notes = """
            FROM note_search CROSS JOIN note_search_key AS key ON key.key = note_search.rowid CROSS JOIN note ON note.id = key.id
            """
        // The index alone knows how many notes have the words.
        let counted = "SELECT 1 \(text.filters.isEmpty ? "FROM note_search" : notes) \(sql) LIMIT \(resultsMax)"
        let total = try Int.fetchOne(db, sql: "SELECT count(*) FROM (\(counted))", arguments: StatementArguments(arguments)) ?? 0
        let order = total > rankedMax ? "note_search.rowid DESC" : "bm25(note_search, 10, 1, 5), note.updated DESC"
        let columns = Note.selection(body: "substr(note.body, 1, \(excerptScalars))")
        let snippet = "snippet(note_search, 1, '\(marks.0)', '\(marks.1)', '…', 16)"
        let rows = try Row.fetchAll(
            db, sql: "SELECT \(columns), \(snippet) \(notes) \(sql) ORDER BY \(order) LIMIT ? OFFSET ?",
            arguments: StatementArguments(arguments + [max(0, count), offset]))
        let entries = rows.compactMap { row in
            Note(row: row).map { NotePage.Entry(note: $0, snippet: Snippet(row[Note.columnNames.count], marks)) }
        }
        return NotePage(total: total, offset: offset, entries: entries)
    }

    /// Notes that are asked for by other things than words.
    private func filtered(_ text: SearchText, offset: Int, count: Int) throws(NotesError) -> NotePage {
        var query = NoteQuery()
        query.text = text
        if let match = text.tagMatch {
            try updateSearchIndex()
            let count = "SELECT count(*) FROM (SELECT 1 FROM note_search WHERE note_search MATCH ? LIMIT \(Self.resultsMax))"
            let found = try NotesError.mapping { try database.read { try Int.fetchOne($0, sql: count, arguments: [match]) } ?? 0 }
            // Of many, some are met soon on a walk through all notes in their order.
            if found < Self.resultsMax { query.candidates = match }
        }
        return try page(query, offset: offset, count: count)
    }

    /// Notes of which a version that is not shown has the words.
    private func keptVersions(matching text: SearchText) throws(NotesError) -> [Note] {
        guard text.filters.isEmpty else { return [] }
        var notes: [Note] = []
        for id in try self.notes(keeping: text.terms.map(\.text)) {
            if let note = try note(UUID(id)) { notes.append(note) }
        }
        return notes
    }
}

/// A piece of a text, with what was looked for in it.
public struct Snippet: Hashable, Sendable {
    /// A part of it.
    public struct Piece: Hashable, Sendable {
        /// What it says.
        public let text: String
        /// Whether it was looked for.
        public let isMarked: Bool
    }

    /// One after the other.
    public let pieces: [Piece]

    /// - Parameter marks: what stands before and after each word that was looked for.
    init(_ text: String?, _ marks: (String, String)) {
        var pieces: [Piece] = []
        for (index, part) in (text ?? "").components(separatedBy: marks.0).enumerated() {
            let halves = part.components(separatedBy: marks.1)
            if index > 0 { pieces.append(Piece(text: halves[0], isMarked: true)) }
            pieces.append(Piece(text: (index > 0 ? halves.dropFirst().joined() : part), isMarked: false))
        }
        self.pieces = pieces.filter { !$0.text.isEmpty }
    }
}
