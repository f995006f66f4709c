/// A part of a line of the merge that both versions have changed.
struct MeetingPiece {
    /// The characters that were inserted there, in the order of the text, and who did.
    var inserted: [Range<Int>] = []
    var sides: [UInt8] = []
    /// The element of the meeting with the first of them.
    let firstInserted: Int
    /// From the first to the last element with what was inserted or deleted there.
    let firstElement: Int
    var lastElement: Int
}

/// Looks at what two versions did between two characters that both have kept, line by line.
struct MeetingScan {
    private var pieces: [MeetingPiece] = []
    private var piece: MeetingPiece?
    /// The first element since the last line break that is shown, if only deletions came so far.
    private var start: Int?
    private var isMet = false
    /// Who has inserted since the last line break that is shown, and since the last one, shown or deleted.
    private var inserted: UInt8 = 0
    private var insertedInLine: UInt8 = 0
    /// Whether both have deleted a character since the last line break, shown or deleted.
    private var bothDeleted = false
    /// Who deleted the last character that was deleted.
    private var lastDeleted: UInt8 = 0
    /// Who has inserted since then what may stand inside of what the other one deleted.
    private var enclosed: UInt8 = 0

    mutating func add(_ element: Meeting.Element, _ index: Int, _ content: WalkedContent) {
        let fate = element.fate
        if fate.inserted == 0, fate.deleted == 0 { return }
        for (offset, scalar) in content.scalars(element.ids).enumerated() {
            if fate.inserted == 0 {
                delete(fate.deleted, scalar.isLineBreak, index)
            } else if scalar.isLineBreak {
                finish()
            } else {
                insert(element.ids.lowerBound + offset, fate.inserted, index)
            }
        }
    }

    /// What was found, once all is added.
    mutating func found() -> [MeetingPiece] {
        finish()
        return pieces
    }

    private mutating func insert(_ id: Int, _ side: UInt8, _ index: Int) {
        var current = piece ?? MeetingPiece(firstInserted: index, firstElement: start ?? index, lastElement: index)
        if let last = current.inserted.last, last.upperBound == id, current.lastElement == index {
            current.inserted[current.inserted.count - 1] = last.lowerBound..<id + 1
        } else {
            current.inserted.append(id..<id + 1)
            current.sides.append(side)
        }
        current.lastElement = index
        piece = current
        inserted |= side
        insertedInLine |= side
        if inserted == 3 || bothDeleted { isMet = true }
        if lastDeleted & (3 - side) != 0 { enclosed |= side }
    }

    private mutating func delete(_ sides: UInt8, _ isLineBreak: Bool, _ index: Int) {
        start = start ?? index
        piece?.lastElement = index
        // Side 1 stands inside of what side 2 deleted, or the other way round.
        if enclosed & 1 != 0, sides & 2 != 0 { isMet = true }
        if enclosed & 2 != 0, sides & 1 != 0 { isMet = true }
        enclosed = 0
        lastDeleted = sides
        if isLineBreak {
            insertedInLine = 0
            bothDeleted = false
        } else if sides == 3 {
            bothDeleted = true
            if insertedInLine != 0 { isMet = true }
        }
    }

    private mutating func finish() {
        if isMet, let piece { pieces.append(piece) }
        self = MeetingScan(pieces: pieces)
    }

    init() {}

    private init(pieces: [MeetingPiece]) {
        self.pieces = pieces
    }
}
