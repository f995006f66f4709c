/// The ordered operations of one change, or a patch: each position refers to the text as the earlier operations left it.
///
/// Kept in columns, because a history holds hundreds of thousands of operations of one scalar each.
public struct TextOperations: Hashable, Sendable {
    struct Step: Hashable, Sendable {
        let position: Int
        /// Scalars inserted; negative: scalars deleted.
        let length: Int
        /// Where the inserted scalars begin in ``TextOperations/inserted``.
        let textStart: Int

        var isInsert: Bool { length > 0 }
        var magnitude: Int { abs(length) }
    }

    private(set) var steps: ContiguousArray<Step> = []
    /// All inserted text, in order.
    private(set) var inserted: ContiguousArray<Unicode.Scalar> = []

    public init() {}

    public init(_ operations: some Sequence<TextOperation>) {
        for operation in operations {
            switch operation {
            case .insert(let text, let position): insert(text, at: position)
            case .delete(let count, let position): delete(count, at: position)
            }
        }
    }

    /// Adds an insertion before the scalar number `position`. Empty text adds nothing.
    ///
    /// Positions are checked where the operations are applied, not here.
    public mutating func insert(_ text: String, at position: Int) {
        insert(scalars: text.unicodeScalars, at: position)
    }

    /// Adds a deletion of `count` scalars, the first one being number `position`. A count of 0 adds nothing.
    public mutating func delete(_ count: Int, at position: Int) {
        precondition(count >= 0, "a deletion cannot have a negative length")
        if count > 0 { steps.append(Step(position: position, length: -count, textStart: inserted.count)) }
    }

    /// Adds the operations of `other`, whose positions refer to the text as these leave it.
    public mutating func append(_ other: TextOperations) {
        append(other, other.steps.indices)
    }

    mutating func insert(scalars: some Sequence<Unicode.Scalar>, at position: Int) {
        let start = inserted.count
        inserted.append(contentsOf: scalars)
        let length = inserted.count - start
        if length > 0 { steps.append(Step(position: position, length: length, textStart: start)) }
    }

    mutating func append(_ other: TextOperations, _ range: Range<Int>) {
        guard let first = range.first else { return }
        let from = other.steps[first].textStart
        let end = range.upperBound < other.steps.count ? other.steps[range.upperBound].textStart : other.inserted.count
        let shift = inserted.count - from
        for index in range {
            let step = other.steps[index]
            steps.append(Step(position: step.position, length: step.length, textStart: step.textStart + shift))
        }
        inserted.append(contentsOf: other.inserted[from..<end])
    }

    /// Adds the insertion `step` of `other` at another position.
    mutating func insert(from other: TextOperations, _ step: Step, at position: Int) {
        insert(scalars: other.inserted[step.textStart..<step.textStart + step.length], at: position)
    }
}

extension TextOperations {
    /// Scalars inserted and deleted: the number of events.
    public var eventCount: Int { eventCount(in: steps.indices) }

    func eventCount(in range: Range<Int>) -> Int {
        range.reduce(0) { total, index in
            let (sum, overflow) = total.addingReportingOverflow(steps[index].magnitude)
            return overflow ? .max : sum
        }
    }

    /// How many scalars the first operation deletes from the beginning of the text; 0 if it does not.
    var scalarsDeletedFirst: Int {
        guard let first = steps.first, !first.isInsert, first.position == 0 else { return 0 }
        return first.magnitude
    }

    /// The operations of a restart, of which the first deletes `count` scalars, however many it was before.
    package func deletingFirst(_ count: Int) -> TextOperations {
        var result = TextOperations()
        result.delete(count, at: 0)
        result.append(self, steps.indices.dropFirst(scalarsDeletedFirst > 0 ? 1 : 0))
        return result
    }

    /// Whether the operations fit a text of `length` scalars; the length they leave.
    ///
    /// - Throws: ``TextError/positionOutOfRange(position:length:)``.
    public func length(after length: Int) throws(TextError) -> Int {
        try self.length(after: length, steps.indices)
    }

    func length(after before: Int, _ range: Range<Int>) throws(TextError) -> Int {
        var length = before
        for index in range {
            let step = steps[index]
            let room = step.isInsert ? length : length - step.magnitude
            guard step.position >= 0, step.position <= room else {
                throw .positionOutOfRange(position: step.position, length: length)
            }
            length += step.length
        }
        return length
    }
}

extension TextOperations: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { steps.count }

    public subscript(index: Int) -> TextOperation {
        let step = steps[index]
        guard step.isInsert else { return .delete(count: step.magnitude, at: step.position) }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: inserted[step.textStart..<step.textStart + step.length])
        return .insert(String(text), at: step.position)
    }
}

extension TextOperations: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: TextOperation...) {
        self.init(elements)
    }
}
