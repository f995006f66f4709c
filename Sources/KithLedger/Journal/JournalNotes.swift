import KithCausality
import KithSync

/// What rows with a journal held when the open transaction began, as far as it has changed them.
///
/// The journal is what the end of the transaction differs in from that, so nothing has to be taken back at `ROLLBACK TO`. Used on the
/// writing connection's thread.
package final class JournalNotes {
    /// A row as it was when the transaction began.
    struct Image {
        let row: RowKey
        let existed: Bool
        /// Those columns that were changed, by their places among the tracked ones, or all of a row that was deleted.
        fileprivate(set) var values: [(place: Int, old: ColumnValue)] = []
        /// Whose commits a merge has brought to the row.
        fileprivate(set) var replicas: Set<ReplicaID> = []

        fileprivate func holds(_ place: Int) -> Bool { values.contains { $0.place == place } }
    }

    /// What the app says of a transaction.
    package struct Label: Hashable, Sendable {
        /// Who made it, in the app's own words.
        package var author: String?
        /// For undo: which list of steps it belongs to, what people call it, and which transaction it takes back or does again.
        package var scope: String?
        package var title: String?
        package var undoes: Int64?
        package var redoes: Int64?

        package init() {}

        /// Whether it takes another transaction back.
        package var isReversion: Bool { undoes != nil || redoes != nil }
    }

    /// For how long the changes of a table are kept, by the table's number.
    package let daysKept: [Int: Int]
    /// In the order in which they were changed.
    private(set) var images: [Image] = []
    /// Where the image of a row is.
    private var places: [RowKey: Int] = [:]
    package var label = Label()
    /// Whether the transaction merges what a peer brought.
    package var isMerge = false
    /// The number under which the transaction was written down.
    var number: Int64?

    package init(daysKept: [Int: Int]) {
        self.daysKept = daysKept
    }

    package func keeps(_ table: Int) -> Bool { daysKept[table] != nil }

    /// Whether the open transaction has nothing to write down.
    package var isEmpty: Bool { images.isEmpty && !label.isReversion }

    /// The row is new.
    package func noteInsert(_ row: RowKey) { _ = image(of: row, existed: false) }

    /// - Parameter old: what a column showed.
    package func noteUpdate(_ row: RowKey, place: Int, old: @autoclosure () -> ColumnValue) {
        let index = image(of: row, existed: true)
        if images[index].existed, !images[index].holds(place) { images[index].values.append((place, old())) }
    }

    /// - Parameter values: what the row showed, of all tracked columns.
    package func noteWhole(_ row: RowKey, _ values: [ColumnValue]) {
        let index = image(of: row, existed: true)
        guard images[index].existed else { return }
        for (place, value) in values.enumerated() where !images[index].holds(place) { images[index].values.append((place, value)) }
    }

    /// A merge has brought commits of `replicas` to the row.
    package func note(_ replicas: some Sequence<ReplicaID>, of row: RowKey) {
        if let index = places[row] { images[index].replicas.formUnion(replicas) }
    }

    private func image(of row: RowKey, existed: Bool) -> Int {
        if let known = places[row] { return known }
        places[row] = images.count
        images.append(Image(row: row, existed: existed))
        return images.count - 1
    }

    private static let imagesKept = 256

    /// The transaction has ended.
    package func clear() {
        number = nil
        label = Label()
        isMerge = false
        if images.isEmpty { return }
        // What one large transaction has filled is not kept for small ones.
        let isLarge = images.count > Self.imagesKept
        images.removeAll(keepingCapacity: !isLarge)
        places.removeAll(keepingCapacity: !isLarge)
    }
}

extension RowLedger {
    /// What a merge is about to change of a row.
    ///
    /// - Parameters:
    ///   - shown: what the app's table shows of it; `nil` if it does not.
    ///   - before: the commits that lived in it.
    package func noteForJournal(_ table: Int, _ id: RowID, shown: [ColumnValue]?, from before: [Dot], to after: [Dot]) {
        guard let journal, journal.keeps(table) else { return }
        let row = RowKey(table: table, id: id)
        if let shown { journal.noteWhole(row, shown) } else { journal.noteInsert(row) }
        let known = Set(before)
        journal.note(after.lazy.filter { !known.contains($0) }.map(\.replica), of: row)
    }
}
