import KithSync

/// The rows of a live list, in its order.
///
/// A value: it stays as it is when the list goes on. Rows are held in pieces of at most 512, which lists share as long as nothing in
/// them changes, so that a changed row among 100,000 costs a copy of one piece.
public struct LiveRows<Record: Sendable>: RandomAccessCollection, Sendable {
    struct Entry: Sendable {
        /// The row's key; `nil` in a list that is compared as a whole.
        let key: RowID?
        /// Of all the columns that were read.
        let fingerprint: Int
        let record: Record
    }

    /// A run of rows. `number` stays when its rows change.
    struct Piece: Sendable {
        let number: Int
        var entries: [Entry]
    }

    static var rowsOfPieceMax: Int { 512 }

    private(set) var pieces: [Piece] = []
    /// Where each piece begins; one more at the end: the count of rows.
    private var starts = [0]

    public var startIndex: Int { 0 }
    public var endIndex: Int { starts[pieces.count] }

    public subscript(position: Int) -> Record { entry(at: position).record }

    func entry(at position: Int) -> Entry {
        precondition(position >= 0 && position < endIndex, "There is no row at \(position).")
        let piece = piece(holding: position)
        return pieces[piece].entries[position - starts[piece]]
    }

    /// The piece in which a row stands, or may be inserted.
    private func piece(holding position: Int) -> Int {
        var low = 0
        var high = pieces.count - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if starts[middle] <= position { low = middle } else { high = middle - 1 }
        }
        return low
    }

    private mutating func count(from first: Int = 0) {
        starts.removeSubrange((first + 1)...)
        for piece in pieces[first...] { starts.append(starts[starts.count - 1] + piece.entries.count) }
    }

    // MARK: Changes

    init() {}

    init(_ entries: [Entry]) {
        for start in stride(from: 0, to: entries.count, by: Self.rowsOfPieceMax / 2) {
            let end = Swift.min(start + Self.rowsOfPieceMax / 2, entries.count)
            pieces.append(Piece(number: pieces.count, entries: Array(entries[start..<end])))
        }
        count()
    }

    /// Where the row of the piece `number` stands.
    func position(of key: RowID, inPiece number: Int) -> Int? {
        guard let piece = pieces.firstIndex(where: { $0.number == number }),
            let place = pieces[piece].entries.firstIndex(where: { $0.key == key })
        else { return nil }
        return starts[piece] + place
    }

    mutating func replace(at position: Int, with entry: Entry) {
        let piece = piece(holding: position)
        pieces[piece].entries[position - starts[piece]] = entry
    }

    mutating func remove(at position: Int) {
        let piece = piece(holding: position)
        pieces[piece].entries.remove(at: position - starts[piece])
        if pieces[piece].entries.isEmpty { pieces.remove(at: piece) }
        count(from: Swift.min(piece, pieces.count))
    }

    /// - Parameter newNumber: for a piece that is made.
    /// - Returns: the pieces whose rows have got another number.
    mutating func insert(_ entry: Entry, at position: Int, newNumber: () -> Int) -> [Piece] {
        if pieces.isEmpty {
            pieces = [Piece(number: newNumber(), entries: [entry])]
            count()
            return pieces
        }
        let piece = piece(holding: Swift.max(0, position - 1))
        pieces[piece].entries.insert(entry, at: position - starts[piece])
        guard pieces[piece].entries.count > Self.rowsOfPieceMax else {
            count(from: piece)
            return [Piece(number: pieces[piece].number, entries: [entry])]
        }
        let half = pieces[piece].entries.count / 2
        let second = Piece(number: newNumber(), entries: Array(pieces[piece].entries[half...]))
        pieces[piece].entries.removeSubrange(half...)
        pieces.insert(second, at: piece + 1)
        count(from: piece)
        return [Piece(number: pieces[piece].number, entries: [entry]), second]
    }
}

extension LiveRows {
    /// Rows that follow each other and have one key.
    public struct Section<Key: Hashable & Sendable>: Hashable, Sendable {
        /// What the rows have in common.
        public let key: Key
        /// Where they stand in the list.
        public let range: Range<Int>
    }

    /// The list cut wherever `key` changes. Let the list be ordered by it first, or a key has several sections.
    ///
    /// Takes time in proportion to the list.
    public func sections<Key>(by key: (Record) -> Key) -> [Section<Key>] {
        var sections: [Section<Key>] = []
        var current: (key: Key, start: Int)?
        var position = 0
        for piece in pieces {
            for entry in piece.entries {
                let next = key(entry.record)
                if let known = current, known.key != next {
                    sections.append(Section(key: known.key, range: known.start..<position))
                    current = (next, position)
                } else if current == nil {
                    current = (next, position)
                }
                position += 1
            }
        }
        if let current { sections.append(Section(key: current.key, range: current.start..<position)) }
        return sections
    }
}

extension LiveRows {
    /// The rows with what is known of them, in order.
    var entries: some Sequence<Entry> { pieces.lazy.flatMap(\.entries) }
}
