import KithCausality

/// What can be wrong with an edit, a change or a stored history.
///
/// Nothing that arrives from outside traps: it ends here. A refused edit or change leaves the document as it was.
public enum TextError: Error, Hashable, Sendable {
    /// An operation reaches outside the text it applies to; both numbers count scalars.
    case positionOutOfRange(position: Int, length: Int)
    /// An offset in UTF-8 or UTF-16 units points into the middle of a scalar.
    case positionInsideScalar(offset: Int, unit: TextUnit)
    /// A change without any operation, or an operation of length 0.
    case emptyChange
    /// The dot cannot name this change: its sequence is 0, or it names another one.
    case invalidDot(Dot)
    /// The author stated another length of the text, in scalars, than the one its parents give.
    case lengthMismatch(stated: Int, actual: Int)
    /// A restart does not begin by deleting the whole text that its parents give.
    case restartKeepsText
    /// The parents are not sorted by dot, or one is named twice.
    case parentsNotSorted
    /// One parent is an ancestor of another.
    case parentsNotReduced
    /// A change is its own ancestor.
    case cycle
    /// No change of this text has this dot, or none has it any more: a deleted row takes its history with it when it is removed for good.
    case unknownVersion(Dot)
    /// A limit of ``TextLimits`` is exceeded.
    case limitExceeded(limit: String, value: Int, maximum: Int)
    /// Bytes that are not what an encoder of this format writes.
    case malformed(String)
    /// The stored history contradicts itself.
    case damagedHistory(String)
}

extension TextError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .positionOutOfRange(let position, let length):
            "Position \(position) lies outside the text of \(length) scalars; read the text again and edit that version."
        case .positionInsideScalar(let offset, let unit):
            "Offset \(offset) in \(unit) units lies inside a character; use an offset on a scalar boundary."
        case .emptyChange:
            "The change holds no operation, or one of length 0; nothing was stored."
        case .invalidDot(let dot):
            "\(dot) cannot name this change: sequences count from 1, and none is used twice."
        case .lengthMismatch(let stated, let actual):
            "The author saw a text of \(stated) scalars, here it has \(actual): the histories differ. The change was not applied."
        case .restartKeepsText:
            "The change is said to replace the whole text and does not delete it first; the change was not applied."
        case .parentsNotSorted:
            "The parents of the change are not sorted or name a change twice; the change was not applied."
        case .parentsNotReduced:
            "A parent of the change is an ancestor of another parent; the change was not applied."
        case .cycle:
            "The change is among its own ancestors; it was not applied."
        case .unknownVersion(let dot):
            """
            No change of this text is named \(dot): it belongs to another text, has not arrived yet, or was removed for good with a \
            deleted row. Load the text again and edit that.
            """
        case .limitExceeded(let limit, let value, let maximum):
            "\(limit) is limited to \(maximum), here it is \(value); nothing was stored. Split the text."
        case .malformed(let what):
            "The encoded text change cannot be read: \(what). It was not applied."
        case .damagedHistory(let what):
            "The stored history of the text is damaged: \(what). Fetch the text again from another device."
        }
    }
}

extension TextError {
    /// Runs `body`, which reads no history but what is in memory, and so throws nothing else.
    @inline(__always)
    static func typed<Result>(_ body: () throws -> Result) throws(TextError) -> Result {
        do {
            return try body()
        } catch let error as TextError {
            throw error
        } catch {
            throw .damagedHistory("\(error)")
        }
    }
}
