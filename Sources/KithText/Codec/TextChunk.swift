import KithCausality

/// Packs changes in a row for cold storage, in two parts: the graph, which the search for the conflict zone reads, and
/// the contents, which only a replay reads. Not compressed: both are made so that a general compressor does well.
package enum TextChunk {
    /// The first byte of a packed graph.
    static let format: UInt8 = 1

    // MARK: Contents

    /// The operations of the changes: a varint with the size of the first column, the operations of all changes (the
    /// first position of a change counts from the end of the previous one), all inserted text as UTF-8.
    package static func encodeBody(_ changes: [TextOperations]) -> [UInt8] {
        var steps = ByteWriter()
        var text: [UInt8] = []
        var end = 0
        for operations in changes {
            operations.encodeSteps(into: &steps, &end)
            text += operations.encodedText
        }
        var writer = ByteWriter()
        writer.count(steps.bytes.count)
        writer.append(steps.bytes)
        writer.append(text)
        return writer.bytes
    }

    /// The operations of the changes that `headers` list.
    ///
    /// - Throws: ``TextError`` for anything ``encodeBody(_:)`` does not write for changes of these lengths.
    package static func decodeBody(
        _ bytes: [UInt8], headers: [TextChangeHeader]
    ) throws(TextError) -> [TextOperations] {
        try TextLimits.check(bytes.count, TextLimits.encodedBytesMax, "The encoded size")
        var reader = ByteReader(bytes)
        let stepBytes = try reader.count(atMost: TextLimits.encodedBytesMax, "The encoded size")
        var steps = ByteReader(Array(try reader.take(stepBytes)))
        let scalars = try Unicode.Scalar.decode(utf8: try reader.take(reader.remaining))
        var source = 0
        var end = 0
        var result: [TextOperations] = []
        result.reserveCapacity(headers.count)
        for header in headers {
            var operations = TextOperations()
            var events = 0
            while events < header.length {
                try operations.decodeStep(&steps, scalars, &source, &end, &events)
            }
            guard events == header.length else { throw .malformed("\(header.dot) is longer than listed") }
            result.append(operations)
        }
        try steps.finish()
        guard source == scalars.count else { throw .malformed("more text than is inserted") }
        return result
    }
}
