import Foundation
import GRDB
import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// What was changed in tables with a journal: `TrackedTable("item", journal: .days(30))`.
///
/// The journal is this file's own. It notes what transactions of every process and merges have made of rows; not what opening a store
/// brings: rows that were there before, and what migrations write.
extension SyncedDatabase {
    /// Says who makes the open transaction, in the app's words, such as "widget"; at most 1,000 bytes are kept.
    ///
    /// To be called within the transaction.
    public func setAuthor(_ author: String?, _ db: Database) throws(StoreError) {
        let state = try writerState(db)
        _ = try StoreError.typed { try state.entry.enter() }
        state.ledger.journal?.label.author = author.map { author in
            let end = (997...1_000).reversed().lazy.compactMap { String(author.utf8.prefix($0)) }.first
            return end ?? ""
        }
    }

    /// The transactions that came after a token, the oldest first.
    ///
    ///     let page = try store.history(after: token, excluding: ["widget"])
    ///     for transaction in page { for change in transaction.changes { … } }
    ///     token = page.last?.token ?? token
    ///
    /// - Parameters:
    ///   - token: of a transaction that was read before; `nil` for all that is kept.
    ///   - tables: of which changes are wanted; `nil` for all. A transaction is listed even if it has changed none of them, so that its
    ///     token leads on.
    ///   - excluding: authors of transactions that are listed without changes.
    ///   - limit: how many transactions at most.
    /// - Throws: ``StoreError`` with code `tokenExpired` if some of what came after the token is forgotten, `notFound` if the token
    ///   is another file's, or of one that was restored since.
    public func history(
        after token: HistoryToken? = nil, tables: Set<String>? = nil, excluding: Set<String> = [], limit: Int = 1_000
    ) throws(StoreError) -> [HistoryTransaction] {
        try read { ledger in try Self.history(ledger, token, tables, excluding, limit) }
    }

    /// The same as a part of what is open on `db`.
    public func history(
        _ db: Database, after token: HistoryToken? = nil, tables: Set<String>? = nil, excluding: Set<String> = [], limit: Int = 1_000
    ) throws(StoreError) -> [HistoryTransaction] {
        try read(in: db) { ledger in try Self.history(ledger, token, tables, excluding, limit) }
    }

    private static func history(
        _ ledger: RowLedger, _ token: HistoryToken?, _ tables: Set<String>?, _ excluding: Set<String>, _ limit: Int
    ) throws -> [HistoryTransaction] {
        let reader = try HistoryReader(ledger)
        return try reader.records.entries(after: try reader.number(token, for: tables), max: max(0, limit)).map { entry in
            let isExcluded = entry.label.author.map(excluding.contains) ?? false
            return try reader.transaction(entry) { !isExcluded && tables?.contains($0) ?? true }
        }
    }

    /// What became of one row, the newest first, each with the one change of it.
    public func history(table: String, id: RowID, limit: Int = 1_000) throws(StoreError) -> [HistoryTransaction] {
        try history(nil, table, id, limit)
    }

    /// The same as a part of what is open on `db`.
    public func history(_ db: Database, table: String, id: RowID, limit: Int = 1_000) throws(StoreError) -> [HistoryTransaction] {
        try history(db, table, id, limit)
    }

    func history(_ db: Database?, _ table: String, _ id: RowID, _ limit: Int) throws(StoreError) -> [HistoryTransaction] {
        try read(in: db) { ledger in
            guard let (number, _) = ledger.tracked(table) else { throw StoreError(.notFound, "There is no tracked table \(table).") }
            let reader = try HistoryReader(ledger)
            let changes = try reader.records.changes(of: RowKey(table: number, id: id), after: 0, max: max(0, limit))
            return try changes.compactMap { number, change in
                guard let entry = try reader.records.entry(number), let name = reader.name(of: change.row.table) else { return nil }
                return HistoryTransaction(
                    token: reader.token(entry), date: Date(timeIntervalSince1970: Double(entry.milliseconds) / 1_000),
                    origin: entry.process.map { .process($0) } ?? .merge, author: entry.label.author,
                    changes: [reader.change(change, entry, name)])
            }
        }
    }

    /// The newest token; `nil` as long as nothing was changed.
    public func historyToken() throws(StoreError) -> HistoryToken? { try historyToken(in: nil) }

    /// The same as a part of what is open on `db`, of what was committed before.
    public func historyToken(_ db: Database) throws(StoreError) -> HistoryToken? { try historyToken(in: db) }

    private func historyToken(in db: Database?) throws(StoreError) -> HistoryToken? {
        try read(in: db) { ledger in
            let reader = try HistoryReader(ledger)
            guard let newest = try reader.records.bounds()?.upperBound else { return nil }
            return try reader.records.entry(newest).map(reader.token)
        }
    }

    // MARK: Cursors

    /// Where the reader `name` has read up to; `nil` if it has not said so.
    public func historyCursor(_ name: String) throws(StoreError) -> HistoryToken? { try historyCursor(name, in: nil) }

    /// The same as a part of what is open on `db`.
    public func historyCursor(_ db: Database, _ name: String) throws(StoreError) -> HistoryToken? { try historyCursor(name, in: db) }

    private func historyCursor(_ name: String, in db: Database?) throws(StoreError) -> HistoryToken? {
        try read(in: db) { ledger in
            let reader = try HistoryReader(ledger)
            return try JournalCursors(journal: reader.records).number(name).flatMap(reader.token)
        }
    }

    /// Notes that the reader `name` has read up to a token. What comes after it is kept four times as long as without a cursor.
    ///
    /// - Parameter token: `nil` ends the reader.
    public func setHistoryCursor(_ name: String, _ token: HistoryToken?) throws(StoreError) {
        try write { _, state in try setHistoryCursor(name, token, state) }
    }

    /// The same as a part of the transaction that is open on `db`: what the reader makes of the changes and how far it has read stay or go
    /// together.
    public func setHistoryCursor(_ db: Database, _ name: String, _ token: HistoryToken?) throws(StoreError) {
        let state = try writerState(db)
        try StoreError.typed {
            try state.entry.enter()
            try setHistoryCursor(name, token, state)
        }
    }

    private func setHistoryCursor(_ name: String, _ token: HistoryToken?, _ state: WriterState) throws {
        let reader = try HistoryReader(state.ledger)
        let cursors = JournalCursors(journal: reader.records)
        guard let token else { return try cursors.remove(name) }
        try cursors.set(name, try reader.knownNumber(token), nowMilliseconds: state.clock.wallClockMilliseconds)
    }

    /// Forgets up to 10,000 changes that tables no longer want to keep. A node does so by itself.
    public func purgeHistory() throws(StoreError) {
        try write { _, state in try purgeHistory(state) }
    }

    func purgeHistory(_ state: WriterState) throws {
        guard let journal = state.ledger.journal else { return }
        try JournalRecords(ledger: state.ledger).purge(
            journal.daysKept, nowMilliseconds: state.clock.wallClockMilliseconds, max: 10_000)
    }

    // MARK: Live

    /// The transactions after a token, and then each one as it is made or merged, of whatever process.
    ///
    /// Those that come while the reader is busy wait in the file. The loop ends with its task; once the store is closed, it throws
    /// ``StoreError`` with code `failed`.
    public func liveHistory(
        after token: HistoryToken?, tables: Set<String>? = nil, excluding: Set<String> = []
    ) -> some AsyncSequence<HistoryTransaction, any Error> & Sendable {
        LiveHistory(token: token, occasions: { [weak self] in self?.commitsAndEnd }) { [weak self] token in
            try self?.history(after: token, tables: tables, excluding: excluding, limit: 100)
        }
    }
}

/// Reads the journal page by page, as the reader asks.
private struct LiveHistory: AsyncSequence, Sendable {
    let token: HistoryToken?
    /// Tells of commits from now on, each loop by itself; `nil` if there is no store any more.
    let occasions: @Sendable () -> AsyncStream<Void>?
    /// Reads the transactions after a token; `nil` if there is no store any more.
    let read: @Sendable (HistoryToken?) throws -> [HistoryTransaction]?

    func makeAsyncIterator() -> Iterator { Iterator(token: token, occasions: occasions()?.makeAsyncIterator(), read: read) }

    struct Iterator: AsyncIteratorProtocol {
        var token: HistoryToken?
        var occasions: AsyncStream<Void>.Iterator?
        let read: @Sendable (HistoryToken?) throws -> [HistoryTransaction]?
        var page: ArraySlice<HistoryTransaction> = []

        mutating func next() async throws -> HistoryTransaction? {
            while !Task.isCancelled {
                while let transaction = page.popFirst() {
                    token = transaction.token
                    if !transaction.changes.isEmpty { return transaction }
                }
                guard let next = try read(token) else { return nil }
                page = next[...]
                if page.isEmpty, await occasions?.next() == nil { return nil }
            }
            return nil
        }
    }
}
