import KithCausality

extension TextChunk {
    /// The headers of changes in a row, each beginning where the previous one ends.
    ///
    /// One byte ``format``, then varints: number of changes · number of replicas, and 16 bytes each · runs (replica,
    /// changes) · for each change its sequence less the replica's previous one here less 1 (zigzag) · for each change
    /// its length · number of changes whose parents are not just the previous change, and for each of them the changes
    /// in between, the number of parents, and how far back each one lies, the oldest first.
    ///
    /// - Throws: ``TextError/damagedHistory(_:)`` when the headers are not changes in a row, ``TextError/malformed(_:)`` when one is a
    ///   restart, which the format cannot say.
    package static func encodeGraph(_ headers: [TextChangeHeader]) throws(TextError) -> [UInt8] {
        guard let last = headers.last else { throw .emptyChange }
        try EventGraph.check(headers, end: last.end)
        try TextLimits.check(headers.count, TextLimits.chunkChangesMax, "The number of changes of a chunk")
        if headers.contains(where: \.isRestart) { throw .malformed("a chunk cannot hold a restart") }
        var writer = ByteWriter()
        writer.append(CollectionOfOne(format))
        writer.count(headers.count)
        writeAuthors(headers, into: &writer)
        for header in headers { writer.count(header.length) }
        writeParents(headers, into: &writer)
        return writer.bytes
    }

    private static func writeAuthors(_ headers: [TextChangeHeader], into writer: inout ByteWriter) {
        var sites: [ReplicaID] = []
        var runs: [(site: Int, count: Int)] = []
        for header in headers {
            let site = sites.firstIndex(of: header.dot.replica) ?? sites.count
            if site == sites.count { sites.append(header.dot.replica) }
            if runs.last?.site == site { runs[runs.count - 1].count += 1 } else { runs.append((site, 1)) }
        }
        writer.count(sites.count)
        for site in sites { writer.append(site.bytes) }
        for run in runs {
            writer.count(run.site)
            writer.count(run.count)
        }
        var expected = [UInt64](repeating: 1, count: sites.count)
        var next = headers.makeIterator()
        for run in runs {
            for _ in 0..<run.count {
                guard let sequence = next.next()?.dot.sequence else { return }
                writer.signed(Int64(bitPattern: sequence &- expected[run.site]))
                expected[run.site] = sequence &+ 1
            }
        }
    }

    private static func writeParents(_ headers: [TextChangeHeader], into writer: inout ByteWriter) {
        let exceptions = headers.indices.filter { headers[$0].parents != usualParents(of: headers[$0].firstEvent) }
        writer.count(exceptions.count)
        var next = 0
        for index in exceptions {
            writer.count(index - next)
            next = index + 1
            writer.count(headers[index].parents.count)
            for parent in headers[index].parents { writer.count(headers[index].firstEvent - parent) }
        }
    }

    private static func usualParents(of firstEvent: Int) -> [Int] { firstEvent == 0 ? [] : [firstEvent - 1] }

    /// The headers of a packed graph whose first event has the number `firstEvent`.
    ///
    /// - Throws: ``TextError`` for anything ``encodeGraph(_:)`` does not write.
    package static func decodeGraph(_ bytes: [UInt8], firstEvent: Int) throws(TextError) -> [TextChangeHeader] {
        try TextLimits.check(bytes.count, TextLimits.encodedBytesMax, "The encoded size")
        guard firstEvent >= 0, firstEvent <= TextLimits.historyEventsMax else {
            throw .damagedHistory("a chunk begins at event \(firstEvent)")
        }
        var reader = ByteReader(bytes)
        guard try reader.byte() == format else {
            throw .malformed("an unknown format; a newer version of the software wrote it")
        }
        let count = try reader.count(atMost: TextLimits.chunkChangesMax, "The number of changes of a chunk")
        guard count > 0 else { throw .emptyChange }
        // Every change takes at least two bytes, so a small input cannot ask for much memory.
        guard count <= reader.remaining else { throw .malformed("it ends too early") }
        let dots = try readDots(count, &reader)
        var lengths: [Int] = []
        lengths.reserveCapacity(count)
        for _ in 0..<count {
            lengths.append(try reader.count(atMost: TextLimits.changeEventsMax, "The size of a change"))
        }
        let headers = try readParents(dots, lengths, firstEvent, &reader)
        try reader.finish()
        guard let last = headers.last else { throw .emptyChange }
        try EventGraph.check(headers, end: last.end)
        return headers
    }

    private static func readDots(_ count: Int, _ reader: inout ByteReader) throws(TextError) -> [Dot] {
        let siteCount = try reader.count(atMost: count, "The number of replicas of a chunk")
        guard siteCount > 0 else { throw .malformed("changes without an author") }
        var sites: [ReplicaID] = []
        for _ in 0..<siteCount {
            guard let site = ReplicaID(bytes: try reader.take(ReplicaID.byteCount)) else {
                throw .malformed("a replica id that is not 16 bytes long")
            }
            sites.append(site)
        }
        var order: [Int] = []
        order.reserveCapacity(count)
        while order.count < count {
            let site = try reader.count(atMost: siteCount - 1, "The number of a replica")
            let run = try reader.count(atMost: count - order.count, "The number of changes of a chunk")
            guard run > 0 else { throw .malformed("an empty run") }
            order.append(contentsOf: repeatElement(site, count: run))
        }
        var expected = [UInt64](repeating: 1, count: siteCount)
        var dots: [Dot] = []
        dots.reserveCapacity(count)
        for site in order {
            let sequence = expected[site] &+ UInt64(bitPattern: try reader.signed())
            expected[site] = sequence &+ 1
            let dot = Dot(replica: sites[site], sequence: sequence)
            guard sequence > 0 else { throw .invalidDot(dot) }
            dots.append(dot)
        }
        return dots
    }

    private static func readParents(
        _ dots: [Dot], _ lengths: [Int], _ firstEvent: Int, _ reader: inout ByteReader
    ) throws(TextError) -> [TextChangeHeader] {
        var headers: [TextChangeHeader] = []
        headers.reserveCapacity(dots.count)
        var exceptions = try reader.count(atMost: dots.count, "The number of changes of a chunk")
        var untilException = exceptions > 0 ? try reader.count(atMost: dots.count, "The number of a change") : .max
        var event = firstEvent
        for (dot, length) in zip(dots, lengths) {
            var parents = usualParents(of: event)
            if untilException == 0 {
                parents = []
                for _ in 0..<(try reader.count(atMost: TextLimits.parentsMax, "The number of parents")) {
                    parents.append(event - (try reader.count(atMost: event, "The distance of a parent")))
                }
                exceptions -= 1
                untilException =
                    exceptions > 0 ? try reader.count(atMost: dots.count, "The number of a change") : .max
            } else if untilException != .max {
                untilException -= 1
            }
            headers.append(TextChangeHeader(firstEvent: event, length: length, dot: dot, parents: parents))
            event += length
        }
        guard exceptions == 0 else { throw .malformed("parents of more changes than there are") }
        return headers
    }
}
