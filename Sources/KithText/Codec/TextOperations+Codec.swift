extension TextOperations {
    /// The operations without the inserted text: for each a varint of length · 2 + (deletion ? 1 : 0), and the
    /// zigzag varint of its position less the end of the previous one (of what it inserted; 0 for the first).
    public var encodedSteps: [UInt8] {
        var writer = ByteWriter()
        var end = 0
        encodeSteps(into: &writer, &end)
        return writer.bytes
    }

    /// All inserted text as UTF-8. Deletions carry no text.
    public var encodedText: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(inserted.count)
        for scalar in inserted { scalar.appendUTF8(to: &bytes) }
        return bytes
    }

    /// Reads what ``encodedSteps`` and ``encodedText`` gave.
    ///
    /// - Throws: ``TextError`` for anything else: sums that do not add up, invalid UTF-8, sizes beyond ``TextLimits``.
    ///   Positions are checked where the operations are applied.
    public init(steps: [UInt8], text: [UInt8]) throws(TextError) {
        try TextLimits.check(steps.count, TextLimits.encodedBytesMax, "The encoded size")
        try TextLimits.check(text.count, TextLimits.encodedBytesMax, "The encoded size")
        self.init()
        let scalars = try Unicode.Scalar.decode(utf8: text)
        var reader = ByteReader(steps)
        var source = 0
        var end = 0
        var events = 0
        while reader.remaining > 0 {
            try decodeStep(&reader, scalars, &source, &end, &events)
            try TextLimits.check(count, TextLimits.operationsMax, "The number of operations")
        }
        guard source == scalars.count else {
            throw .malformed("\(scalars.count) scalars of text for \(source) insertions")
        }
        guard events > 0 else { throw .emptyChange }
    }

    func encodeSteps(into writer: inout ByteWriter, _ end: inout Int) {
        for step in steps {
            writer.varint(UInt64(step.magnitude) << 1 | (step.isInsert ? 0 : 1))
            writer.signed(Int64(step.position &- end))
            end = step.isInsert ? step.position &+ step.length : step.position
        }
    }

    /// Reads one operation; its text is taken from `scalars` at `source`.
    mutating func decodeStep(
        _ reader: inout ByteReader, _ scalars: ContiguousArray<Unicode.Scalar>, _ source: inout Int,
        _ end: inout Int, _ events: inout Int
    ) throws(TextError) {
        let code = try reader.varint()
        let length = Int(code >> 1)
        guard length > 0 else { throw .emptyChange }
        let limit = "The size of a change"
        try TextLimits.check(length, TextLimits.changeEventsMax, limit)
        events += length
        try TextLimits.check(events, TextLimits.changeEventsMax, limit)
        let (position, overflow) = Int64(end).addingReportingOverflow(try reader.signed())
        // No text is longer; the exact check needs the text.
        guard !overflow, position >= 0, position < Int64(Span.olderLength) else {
            throw .malformed("a position outside any text")
        }
        end = Int(position)
        if code & 1 == 1 {
            delete(length, at: end)
        } else {
            guard length <= scalars.count - source else { throw .malformed("less text than is inserted") }
            insert(scalars: scalars[source..<source + length], at: end)
            source += length
            end += length
        }
    }
}
