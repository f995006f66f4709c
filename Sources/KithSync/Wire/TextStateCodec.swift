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
        writer.count(state.present.count)
        for dot in state.present { writer.dot(dot, &replicas) }
        if inRecord { encodePast(of: state, to: &writer, &replicas) } else { encode(state.changes, to: &writer, &replicas) }
    }

    static func decode(
        _ reader: inout ByteReader, inRecord: Bool, _ replicas: ReplicaTable
    ) throws(WireError) -> TextState {
        var state = TextState(touched: try reader.vector(replicas))
        state.present = try dots(&reader, replicas)
        guard state.present.allSatisfy(state.touched.covers) else { throw .malformed("text without its commit") }
        if inRecord {
            try decodePast(of: &state, &reader, replicas)
        } else {
            state.changes = try changes(&reader, replicas)
            guard state.changes.allSatisfy({ state.touched.covers($0.stamp.dot) }) else {
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
        writer.byte((followsPrevious ? Flag.followsPrevious : 0) | (change.replacedScalars != nil ? Flag.replacesAll : 0))
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
        guard flags & ~(Flag.followsPrevious | Flag.replacesAll) == 0 else { throw .unsupported("kind of text change") }
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
        return TextState.Change(
            stamp: stamp, parents: parents, replacedScalars: replaced,
            steps: try reader.blob(limit: WireLimits.textBytesMax, "textBytesMax"),
            inserted: try reader.blob(limit: WireLimits.textBytesMax, "textBytesMax"))
    }

    private static func dots(_ reader: inout ByteReader, _ replicas: ReplicaTable) throws(WireError) -> [Dot] {
        let count = try reader.count(eachBytes: 2, limit: WireLimits.concurrentMax, "concurrentMax")
        var dots: [Dot] = []
        for _ in 0..<count {
            let dot = try reader.dot(replicas)
            if let last = dots.last, last >= dot { throw .malformed("dots out of order") }
            dots.append(dot)
        }
        return dots
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
    public func record(_ replicas: inout ReplicaTable) -> [UInt8] {
        var writer = ByteWriter()
        TextStateCodec.encode(self, after: nil, to: &writer, &replicas)
        return writer.bytes
    }

    /// Reads what ``record(_:)`` gave.
    public init(record bytes: [UInt8], _ replicas: ReplicaTable) throws(WireError) {
        var reader = ByteReader(bytes)
        self = try TextStateCodec.change(&reader, after: nil, replicas)
    }
}
