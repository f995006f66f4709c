/// A text for editing: a list of chunks of scalars.
///
/// An edit near the previous one costs the length of one chunk at most, whatever the length of the text; an edit far
/// away costs one step per chunk in between. Plain values: a copy is independent.
public struct TextBuffer: Sendable {
    /// Room of one chunk, in scalars.
    static let chunkCapacity = 1_024
    /// How far a chunk is filled when text is poured in, so that the next edit finds room.
    static let chunkFill = 768

    /// All chunks, each with room for ``chunkCapacity`` scalars, in order of creation.
    private var storage: ContiguousArray<Unicode.Scalar> = []
    /// Which chunk of ``storage`` comes at each place of the text.
    private var slots: ContiguousArray<Int32> = []
    /// Scalars of the chunk at each place of the text.
    private var counts: ContiguousArray<Int32> = []
    private var freeSlots: ContiguousArray<Int32> = []
    /// The place of the last edit, and the number of scalars before it.
    private var cursor = (place: 0, start: 0)

    /// The number of scalars.
    public private(set) var count = 0

    /// The empty text.
    public init() {}

    init(scalars: some Sequence<Unicode.Scalar>) {
        ContiguousArray(scalars).withUnsafeBufferPointer { append($0) }
    }

    /// Whether it has no scalar.
    public var isEmpty: Bool { count == 0 }

    /// All scalars, in one array.
    var scalars: ContiguousArray<Unicode.Scalar> {
        ContiguousArray(unsafeUninitializedCapacity: count) { target, initialized in
            forEachChunk { chunk in
                _ = UnsafeMutableBufferPointer(rebasing: target[initialized...]).update(fromContentsOf: chunk)
                initialized += chunk.count
            }
        }
    }

    /// The scalars with these numbers, which the text has.
    func scalars(in range: Range<Int>) -> ContiguousArray<Unicode.Scalar> {
        var result: ContiguousArray<Unicode.Scalar> = []
        result.reserveCapacity(range.count)
        var start = 0
        for place in slots.indices where start < range.upperBound {
            let end = start + Int(counts[place])
            if end > range.lowerBound {
                let slot = Int(slots[place]) * Self.chunkCapacity - start
                result.append(contentsOf: storage[slot + max(start, range.lowerBound)..<slot + min(end, range.upperBound)])
            }
            start = end
        }
        return result
    }

    /// Calls `body` with the text, piece by piece.
    func forEachChunk(_ body: (UnsafeBufferPointer<Unicode.Scalar>) -> Void) {
        storage.withUnsafeBufferPointer { all in
            for place in slots.indices {
                let start = Int(slots[place]) * Self.chunkCapacity
                body(UnsafeBufferPointer(rebasing: all[start..<start + Int(counts[place])]))
            }
        }
    }

    // MARK: Editing

    /// Applies operations in order.
    ///
    /// - Throws: ``TextError/positionOutOfRange(position:length:)``; then nothing was applied.
    public mutating func apply(_ operations: TextOperations) throws(TextError) {
        _ = try operations.length(after: count)
        applyChecked(operations, operations.steps.indices)
    }

    /// Applies a range of operations that are known to fit.
    mutating func applyChecked(_ operations: TextOperations, _ range: Range<Int>) {
        operations.inserted.withUnsafeBufferPointer { inserted in
            for index in range {
                let step = operations.steps[index]
                if step.isInsert {
                    let end = step.textStart + step.length
                    insert(UnsafeBufferPointer(rebasing: inserted[step.textStart..<end]), at: step.position)
                } else {
                    delete(step.magnitude, at: step.position)
                }
            }
        }
    }

    mutating func append(_ text: UnsafeBufferPointer<Unicode.Scalar>) {
        insert(text, at: count)
    }

    mutating func insert(_ text: UnsafeBufferPointer<Unicode.Scalar>, at position: Int) {
        precondition(position >= 0 && position <= count)
        guard !text.isEmpty else { return }
        if slots.isEmpty { addChunk(at: 0) }
        let place = seek(position)
        let offset = position - cursor.start
        let old = Int(counts[place])
        if old + text.count <= Self.chunkCapacity {
            let start = Int(slots[place]) * Self.chunkCapacity + offset
            storage.withUnsafeMutableBufferPointer { all in
                guard let base = all.baseAddress, let source = text.baseAddress else { return }
                (base + start + text.count).update(from: base + start, count: old - offset)
                (base + start).update(from: source, count: text.count)
            }
            counts[place] += Int32(text.count)
        } else {
            insertAcrossChunks(text, place, offset)
        }
        count += text.count
    }

    mutating func delete(_ length: Int, at position: Int) {
        precondition(length >= 0 && position >= 0 && position <= count - length)
        var remaining = length
        while remaining > 0 {
            // The chunk that holds the scalar at `position`, not the one that ends there.
            var place = seek(position)
            if position - cursor.start == Int(counts[place]) {
                cursor = (place + 1, position)
                place += 1
            }
            let offset = position - cursor.start
            let old = Int(counts[place])
            let cut = min(remaining, old - offset)
            let start = Int(slots[place]) * Self.chunkCapacity + offset
            storage.withUnsafeMutableBufferPointer { all in
                guard let base = all.baseAddress else { return }
                (base + start).update(from: base + start + cut, count: old - offset - cut)
            }
            counts[place] -= Int32(cut)
            if cut == old { removeChunk(at: place) }
            remaining -= cut
        }
        count -= length
    }

    // MARK: Chunks

    /// The place of the first chunk that ends at or after `position`; moves the cursor there.
    private mutating func seek(_ position: Int) -> Int {
        var (place, start) = cursor
        while place > 0, start >= position {
            place -= 1
            start -= Int(counts[place])
        }
        while place < counts.count - 1, start + Int(counts[place]) < position {
            start += Int(counts[place])
            place += 1
        }
        cursor = (place, start)
        return place
    }

    /// Inserts text that does not fit into the chunk: what follows moves to new chunks.
    private mutating func insertAcrossChunks(
        _ text: UnsafeBufferPointer<Unicode.Scalar>, _ place: Int, _ offset: Int
    ) {
        let start = Int(slots[place]) * Self.chunkCapacity
        var rest = ContiguousArray(text)
        rest.append(contentsOf: storage[start + offset..<start + Int(counts[place])])
        counts[place] = Int32(offset)
        let pieces = (rest.count + Self.chunkFill - 1) / Self.chunkFill
        let newSlots = (0..<pieces).map { _ in makeSlot() }
        slots.insert(contentsOf: newSlots, at: place + 1)
        counts.insert(contentsOf: repeatElement(0, count: pieces), at: place + 1)
        for piece in 0..<pieces {
            let from = piece * Self.chunkFill
            let length = min(Self.chunkFill, rest.count - from)
            let target = Int(newSlots[piece]) * Self.chunkCapacity
            for index in 0..<length { storage[target + index] = rest[from + index] }
            counts[place + 1 + piece] = Int32(length)
        }
    }

    private mutating func addChunk(at place: Int) {
        slots.insert(makeSlot(), at: place)
        counts.insert(0, at: place)
    }

    private mutating func makeSlot() -> Int32 {
        if let free = freeSlots.popLast() { return free }
        storage.append(contentsOf: repeatElement("\0", count: Self.chunkCapacity))
        return Int32(storage.count / Self.chunkCapacity - 1)
    }

    /// Removes the empty chunk under the cursor.
    private mutating func removeChunk(at place: Int) {
        freeSlots.append(slots.remove(at: place))
        counts.remove(at: place)
        if place == counts.count {
            cursor = place > 0 ? (place - 1, cursor.start - Int(counts[place - 1])) : (0, 0)
        }
    }
}

extension TextBuffer: Equatable {
    /// The same scalars in the same order; unlike `String`, `é` composed and decomposed differ.
    public static func == (left: TextBuffer, right: TextBuffer) -> Bool {
        left.count == right.count && left.scalars == right.scalars
    }
}
