import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText

/// Changes in a row as ``ChunkRows`` keeps them: when they were made, their graph, their contents.
///
/// The first byte of the graph says how: ``plain``, the three as they are, by the first version of Kith; ``compressed``, which
/// is all that is written now. So a search for what is concurrent reads no contents.
package struct PackedChanges {
    private static let plain: UInt8 = 1
    private static let compressed: UInt8 = 2

    package let times: [UInt8]
    package let graph: [UInt8]
    package let body: [UInt8]

    /// - Parameter changes: in a row.
    package init(_ changes: [ArchivedChange]) throws {
        times = Compressed.encode(Self.encode(changes.map(\.timestamp)))
        graph = [Self.compressed] + Compressed.encode(try TextChunk.encodeGraph(changes.map(\.header)))
        body = Compressed.encode(TextChunk.encodeBody(changes.map(\.operations)))
    }

    /// - Parameter body: empty where only ``headers(firstEvent:)`` and ``timestamps(count:)`` are read.
    init(times: [UInt8], graph: [UInt8], body: [UInt8] = []) {
        self.times = times
        self.graph = graph
        self.body = body
    }

    var isCompressed: Bool { graph.first == Self.compressed }

    package func headers(firstEvent: Int) throws -> [TextChangeHeader] {
        try TextChunk.decodeGraph(isCompressed ? expand(Array(graph.dropFirst())) : graph, firstEvent: firstEvent)
    }

    package func operations(of headers: [TextChangeHeader]) throws -> [TextOperations] {
        try TextChunk.decodeBody(isCompressed ? expand(body) : body, headers: headers)
    }

    package func timestamps(count: Int) throws -> [HybridTimestamp] {
        var reader = ByteReader(isCompressed ? try expand(times) : times)
        return isCompressed ? try Self.decode(&reader, count: count) : try Self.decodePlain(&reader, count: count)
    }

    private func expand(_ bytes: [UInt8]) throws(WireError) -> [UInt8] {
        try Compressed.decode(bytes, bytesMax: TextLimits.encodedBytesMax)
    }

    // MARK: Times

    /// How many milliseconds each lies after the one before (zigzag), then all counters, nearly always 0.
    private static func encode(_ times: [HybridTimestamp]) -> [UInt8] {
        var writer = ByteWriter()
        var previous: Int64 = 0
        for time in times {
            writer.signed(time.milliseconds - previous)
            previous = time.milliseconds
        }
        for time in times { writer.count(Int(time.counter)) }
        return writer.bytes
    }

    private static func decode(_ reader: inout ByteReader, count: Int) throws(WireError) -> [HybridTimestamp] {
        var times: [UInt64] = []
        times.reserveCapacity(count)
        var previous: Int64 = 0
        for _ in 0..<count {
            previous &+= try reader.signed()
            guard previous >= 0, previous < 1 << 48 else { throw .malformed("time of a text change") }
            times.append(UInt64(previous) << 16)
        }
        for index in times.indices { times[index] |= UInt64(try reader.index(below: 1 << 16, "counter of a text change")) }
        return times.map(HybridTimestamp.init)
    }

    private static func decodePlain(_ reader: inout ByteReader, count: Int) throws(WireError) -> [HybridTimestamp] {
        var previous: UInt64 = 0
        var times: [HybridTimestamp] = []
        for _ in 0..<count {
            previous = previous &+ UInt64(bitPattern: try reader.signed())
            times.append(HybridTimestamp(rawValue: previous))
        }
        return times
    }
}
