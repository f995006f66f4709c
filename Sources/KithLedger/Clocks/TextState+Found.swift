import Crypto
import KithCausality
import KithSync
import KithText

extension TextState {
    /// The cell that a commit found: `nil` is NULL.
    package init(found text: [UInt8]?, stamp: Stamp) {
        self.init(text: text ?? [])
        var texts = AdoptedTexts(adopters: VersionVector([stamp.dot]))
        if let text {
            document = Self.documentNumber(of: text)
            texts.documents = [AdoptedTexts.Document(number: document, found: stamp)]
            if let root = texts.documents[0].root, !text.isEmpty { past = .one(Stamp(dot: root, timestamp: .zero)) }
        }
        adopted = texts
    }

    /// The text that one commit wrote whole, or found.
    package init(_ text: [UInt8]?, stamp: Stamp) {
        if stamp.isAdopted { self.init(found: text, stamp: stamp) } else { self.init(text: text, stamp: stamp) }
    }

    /// The name of a document that began with `text`, the same wherever it was found: the first 63 bits of its SHA-256, but never 0.
    package static func documentNumber(of text: [UInt8]) -> Int64 {
        var number: UInt64 = 0
        for byte in SHA256.hash(data: text).prefix(8) { number = number << 8 | UInt64(byte) }
        return max(1, Int64(number >> 1))
    }

    /// Whether the cell is just what an adoption by the commit of `stamp` leaves.
    package func isWhole(foundBy stamp: Stamp) -> Bool {
        guard let adopted, touched.isEmpty, present.isEmpty, adopted.adopters.entries == [stamp.dot] else { return false }
        guard let only = adopted.documents.first else { return document == 0 && past == .none }
        guard adopted.documents.count == 1, only.found == stamp, only.edited.isEmpty, !only.isFoundDismissed, document == only.number
        else { return false }
        // Without a change it is the empty text, or one whose changes are still to come.
        if past == .none { return document == Self.emptyDocument }
        return past == only.root.map { .one(Stamp(dot: $0, timestamp: .zero)) }
    }

    private static let emptyDocument = documentNumber(of: [])
}

extension TextState.Change {
    /// Whether the first change of a text that was found says what its name says.
    package var isNamedByContent: Bool { insertsWholeText && document == TextState.documentNumber(of: inserted) }

    /// Whether the change is just the insertion of a text, made on nothing: nearly every text that was never edited.
    package var insertsWholeText: Bool {
        guard parents.isEmpty, replacedScalars == nil, !inserted.isEmpty, inserted.count <= TextLimits.textScalarsMax,
            let text = String(validating: inserted, as: UTF8.self)
        else { return false }
        return steps == Self.steps(insertingScalars: text.unicodeScalars.count)
    }

    /// The change that inserts `text` on nothing.
    package init(insertingAll text: [UInt8], _ stamp: Stamp) {
        let scalars = text.count { $0 & 0xc0 != 0x80 }
        self.init(stamp: stamp, parents: [], steps: Self.steps(insertingScalars: scalars), inserted: text)
    }

    private static func steps(insertingScalars count: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.count(count << 1)
        writer.signed(0)
        return writer.bytes
    }
}
