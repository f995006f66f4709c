import Crypto
import KithCausality
import KithSync
import KithText

extension TextState {
    /// The cell that a commit found: `nil` is NULL.
    init(found text: [UInt8]?, stamp: Stamp) {
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
    init(_ text: [UInt8]?, stamp: Stamp) {
        if stamp.isAdopted { self.init(found: text, stamp: stamp) } else { self.init(text: text, stamp: stamp) }
    }

    /// The name of a document that began with `text`, the same wherever it was found: the first 63 bits of its SHA-256, but never 0.
    static func documentNumber(of text: [UInt8]) -> Int64 {
        var number: UInt64 = 0
        for byte in SHA256.hash(data: text).prefix(8) { number = number << 8 | UInt64(byte) }
        return max(1, Int64(number >> 1))
    }

    /// Whether the cell is just what an adoption by the commit of `stamp` leaves.
    func isWhole(foundBy stamp: Stamp) -> Bool {
        guard let adopted, touched.isEmpty, present.isEmpty, adopted.adopters.entries == [stamp.dot] else { return false }
        guard let only = adopted.documents.first else { return document == 0 && past == .none }
        guard adopted.documents.count == 1, only.found == stamp, only.edited.isEmpty, !only.isFoundDismissed, document == only.number
        else { return false }
        return past == .none || past == only.root.map { .one(Stamp(dot: $0, timestamp: .zero)) }
    }
}

extension TextState.Change {
    /// Whether the first change of a text that was found says what its name says.
    var isNamedByContent: Bool { insertsWholeText && document == TextState.documentNumber(of: inserted) }
}

extension TextCells {
    /// Says of a text that was written what must be known before it is merged with texts that were found: when it was edited last.
    func spellOut(_ state: inout RowState, before part: RowState, table: Int, id: RowID) throws {
        for entry in part.cells {
            guard case .text(let new) = entry.cell, new.adopted != nil, case .text(var old)? = state[entry.column], old.adopted == nil
            else { continue }
            old.adopted = AdoptedTexts(
                written: old, lastEdit: try lastEdit(of: old, at: TextKey(table: table, id: id, column: entry.column)))
            state[entry.column] = .text(old)
        }
    }

    private func lastEdit(of state: TextState, at key: TextKey) throws -> Stamp? {
        switch state.past {
        case .none: return nil
        case .one(let stamp): return stamp
        case .kept:
            guard let archived = try archive.find(key.of(state)) else { throw TextArchive.corrupt }
            // A later change has a later timestamp than all it builds on, so the latest is one of the last.
            var open = Set(archived.heads.map(\.dot))
            var latest: Stamp?
            try StoredTextHistory(archive: archive, text: archived.number).forEachPart(before: archived.nextEvent, downTo: 0) { part in
                for change in part where open.remove(change.header.dot) != nil {
                    let stamp = Stamp(dot: change.header.dot, timestamp: change.timestamp)
                    if latest.map({ stamp.isShown(over: $0) }) ?? true { latest = stamp }
                }
            } until: {
                open.isEmpty
            }
            return latest
        }
    }
}
