import KithCausality

/// How a text cell stands in bytes. See docs/protocol.md, "Text cells".
///
/// On the wire: who touched it, the commits that keep it from being NULL, the changes. In a store's own records: where the
/// past is and the text, if it does not stand in the user's table, instead of the changes.
enum TextStateCodec {
    private enum Flag {
        /// The only parent is the change before in the list.
        static let followsPrevious: UInt8 = 1
        static let replacesAll: UInt8 = 2
        /// It is a change of a document that was found.
        static let ofDocument: UInt8 = 4
    }

    private enum DocumentFlag {
        static let found: UInt8 = 1
        static let edited: UInt8 = 2
        static let isFoundDismissed: UInt8 = 4
    }

    private enum PastTag {
        static let none: UInt8 = 0
        static let one: UInt8 = 1
        static let kept: UInt8 = 2
    }

    static func encode(
        _ state: TextState, inRecord: Bool, to writer: inout ByteWriter, _ replicas: inout ReplicaTable
    ) {
        writer.vector(state.touched, &replicas)
        writer.count(state.present.count << 1 | (state.adopted == nil ? 0 : 1))
        for dot in state.present { writer.dot(dot, &replicas) }
        if let adopted = state.adopted { encode(adopted, shown: state.document, inRecord: inRecord, to: &writer, &replicas) }
        if inRecord { encodePast(of: state, to: &writer, &replicas) } else { encode(state.changes, to: &writer, &replicas) }
    }

    static func decode(
        _ reader: inout ByteReader, inRecord: Bool, _ replicas: ReplicaTable
    ) throws(WireError) -> TextState {
        var state = TextState(touched: try reader.vector(replicas))
        let (count, flags) = try reader.count(flagBits: 1, eachBytes: 2, limit: WireLimits.concurrentMax, "concurrentMax")
        state.present = try dots(&reader, count: count, replicas)
        if flags != 0 { try decodeAdopted(of: &state, &reader, inRecord: inRecord, replicas) }
        guard state.present.allSatisfy(state.touched.covers) else { throw .malformed("text without its commit") }
        if inRecord {
            try decodePast(of: &state, &reader, replicas)
        } else {
            state.changes = try changes(&reader, replicas)
            guard state.changes.allSatisfy({ $0.isRoot || state.touched.covers($0.stamp.dot) }) else {
                throw .malformed("text change without its commit")
            }
        }
        return state
    }

    // MARK: Changes

    private static func encode(_ changes: [TextState.Change], to writer: inout ByteWriter, _ replicas: inout ReplicaTable) {
        writer.count(changes.count)
        var previous: Dot?
        for change in changes {
            encode(change, after: previous, to: &writer, &replicas)
            previous = change.stamp.dot
        }
    }

    static func encode(
        _ change: TextState.Change, after previous: Dot?, to writer: inout ByteWriter, _ replicas: inout ReplicaTable
    ) {
        let followsPrevious = previous.map { change.parents == [$0] } ?? false
        writer.byte(
            (followsPrevious ? Flag.followsPrevious : 0) | (change.replacedScalars != nil ? Flag.replacesAll : 0)
                | (change.document != 0 ? Flag.ofDocument : 0))
        if change.document != 0 { writer.varint(UInt64(bitPattern: change.document)) }
        writer.stamp(change.stamp, &replicas)
        if !followsPrevious {
            writer.count(change.parents.count)
            for parent in change.parents { writer.dot(parent, &replicas) }
        }
        if let replaced = change.replacedScalars { writer.count(replaced) }
        writer.blob(change.steps)
        writer.blob(change.inserted)
    }

    private static func changes(
        _ reader: inout ByteReader, _ replicas: ReplicaTable
    ) throws(WireError) -> [TextState.Change] {
        let count = try reader.count(eachBytes: 13, limit: WireLimits.textChangesMax, "textChangesMax")
        var changes: [TextState.Change] = []
        changes.reserveCapacity(count)
        for _ in 0..<count {
            changes.append(try change(&reader, after: changes.last?.stamp.dot, replicas))
        }
        return changes
    }

    static func change(
        _ reader: inout ByteReader, after previous: Dot?, _ replicas: ReplicaTable
    ) throws(WireError) -> TextState.Change {
        let flags = try reader.byte()
        guard flags & ~(Flag.followsPrevious | Flag.replacesAll | Flag.ofDocument) == 0 else {
            throw .unsupported("kind of text change")
        }
        let document = flags & Flag.ofDocument == 0 ? 0 : try number(&reader)
        let stamp = try reader.stamp(replicas)
        var parents: [Dot]
        if flags & Flag.followsPrevious == 0 {
            parents = try dots(&reader, replicas)
        } else {
            guard let previous else { throw .malformed("text change that follows nothing") }
            parents = [previous]
        }
        if parents.contains(stamp.dot) { throw .malformed("text change that is its own parent") }
        let replaced = flags & Flag.replacesAll == 0 ? nil : try reader.index(below: Int(Int32.max), "replaced scalars")
        var change = TextState.Change(
            stamp: stamp, parents: parents, replacedScalars: replaced,
            steps: try reader.blob(limit: WireLimits.textBytesMax, "textBytesMax"),
            inserted: try reader.blob(limit: WireLimits.textBytesMax, "textBytesMax"))
        change.document = document
        if stamp.dot.replica == .nobody, !change.isRoot { throw .malformed("commit of nobody") }
        return change
    }

    /// The number of a document that was found.
    private static func number(_ reader: inout ByteReader) throws(WireError) -> Int64 {
        let number = try reader.varint()
        guard number > 0, number <= UInt64(Int64.max) else { throw .malformed("number of a document") }
        return Int64(number)
    }

    private static func dots(_ reader: inout ByteReader, _ replicas: ReplicaTable) throws(WireError) -> [Dot] {
        try dots(&reader, count: try reader.count(eachBytes: 2, limit: WireLimits.textParentsMax, "textParentsMax"), replicas)
    }

    private static func dots(_ reader: inout ByteReader, count: Int, _ replicas: ReplicaTable) throws(WireError) -> [Dot] {
        var dots: [Dot] = []
        for _ in 0..<count {
            let dot = try reader.dot(replicas)
            if let last = dots.last, last >= dot { throw .malformed("dots out of order") }
            dots.append(dot)
        }
        return dots
    }

    // MARK: Texts that were found

    private static func encode(
        _ adopted: AdoptedTexts, shown: Int64, inRecord: Bool, to writer: inout ByteWriter, _ replicas: inout ReplicaTable
    ) {
        if inRecord { writer.varint(UInt64(bitPattern: shown)) }
        writer.vector(adopted.adopters, &replicas)
        writer.count(adopted.documents.count)
        for document in adopted.documents {
            writer.varint(UInt64(bitPattern: document.number))
            writer.byte(
                (document.found == nil ? 0 : DocumentFlag.found) | (document.lastEdit == nil ? 0 : DocumentFlag.edited)
                    | (document.isFoundDismissed ? DocumentFlag.isFoundDismissed : 0))
            if let found = document.found { writer.stamp(found, &replicas) }
            if let edit = document.lastEdit { writer.stamp(edit, &replicas) }
            writer.vector(document.edited, &replicas)
            writer.vector(document.dismissed, &replicas)
            if inRecord, document.number != shown {
                encodePast(of: TextState(past: document.past, text: document.text ?? []), to: &writer, &replicas)
            }
        }
    }

    private static func decodeAdopted(
        of state: inout TextState, _ reader: inout ByteReader, inRecord: Bool, _ replicas: ReplicaTable
    ) throws(WireError) {
        if inRecord { state.document = Int64(bitPattern: try reader.varint()) }
        var adopted = AdoptedTexts(adopters: try reader.vector(replicas))
        let count = try reader.count(eachBytes: 4, limit: WireLimits.textDocumentsMax, "textDocumentsMax")
        for _ in 0..<count {
            let number = try reader.varint()
            guard number <= UInt64(Int64.max) else { throw .malformed("number of a document") }
            var document = AdoptedTexts.Document(number: Int64(number))
            if let last = adopted.documents.last, last.number >= document.number { throw .malformed("documents out of order") }
            let flags = try reader.byte()
            if flags & DocumentFlag.found != 0 { document.found = try reader.stamp(replicas) }
            if flags & DocumentFlag.edited != 0 { document.lastEdit = try reader.stamp(replicas) }
            guard (document.found == nil) == (number == 0), document.found?.isAdopted != false, document.lastEdit?.isAdopted != true else {
                throw .malformed("document that was found and was not")
            }
            document.isFoundDismissed = flags & DocumentFlag.isFoundDismissed != 0
            document.edited = try reader.vector(replicas)
            document.dismissed = try reader.vector(replicas)
            if inRecord, document.number != state.document {
                var past = TextState()
                try decodePast(of: &past, &reader, replicas)
                (document.past, document.text) = (past.past, past.text)
            }
            adopted.documents.append(document)
        }
        state.adopted = adopted
    }

    // MARK: Records

    private static func encodePast(of state: TextState, to writer: inout ByteWriter, _ replicas: inout ReplicaTable) {
        switch state.past {
        case .none:
            writer.byte(PastTag.none)
        case .one(let stamp):
            writer.byte(PastTag.one)
            writer.stamp(stamp, &replicas)
        case .kept:
            writer.byte(PastTag.kept)
        }
        if let text = state.text { writer.value(.text(text)) } else { writer.byte(ValueTag.elsewhere) }
    }

    private static func decodePast(
        of state: inout TextState, _ reader: inout ByteReader, _ replicas: ReplicaTable
    ) throws(WireError) {
        switch try reader.byte() {
        case PastTag.none: state.past = .none
        case PastTag.one: state.past = .one(try reader.stamp(replicas))
        case PastTag.kept: state.past = .kept
        default: throw .malformed("past of a text")
        }
        let tag = try reader.byte()
        switch try reader.value(tag: tag) {
        case .text(let text)?: state.text = text
        case nil where tag == ValueTag.elsewhere: break
        default: throw .malformed("text of unknown type")
        }
    }
}

extension TextState.Change {
    /// The change alone, for a store's own records.
    package func record(_ replicas: inout ReplicaTable) -> [UInt8] {
        var writer = ByteWriter()
        TextStateCodec.encode(self, after: nil, to: &writer, &replicas)
        return writer.bytes
    }

    /// Reads what ``record(_:)`` gave.
    package init(record bytes: [UInt8], _ replicas: ReplicaTable) throws(WireError) {
        var reader = ByteReader(bytes)
        self = try TextStateCodec.change(&reader, after: nil, replicas)
    }
}
