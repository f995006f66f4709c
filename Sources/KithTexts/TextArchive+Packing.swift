import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText

extension TextArchive {
    /// Changes of a text that are kept one a row, at most about so many; older ones are packed.
    package static let unpackedChangesMax = 256
    /// The newest ones are never packed.
    static let unpackedChangesMin = 64
    /// Changes of one chunk.
    private static let chunkChangesMax = 4_096
    /// Bytes of the operations and the inserted text of one chunk, unless it is one change.
    private static let chunkBytesMax = 256 << 10

    /// Packs old changes if there are many. Lossless, and a matter of this store alone.
    ///
    /// Chunks grow by being joined with the one before while that is not much larger, so that each change is packed anew as often
    /// as the logarithm of their number, and few chunks are small.
    ///
    /// - Returns: whether there is more to pack: at most one chunk is made.
    @discardableResult
    func packIfLarge(_ text: ArchivedText) throws -> Bool {
        let rows = try ChangeRows(connection).packableCount(of: text.number)
        if rows <= Self.unpackedChangesMax { return false }
        try pack(text.number, leaving: Self.unpackedChangesMin, joining: .similarOnly, runsMax: 1)
        return rows > Self.chunkChangesMax + Self.unpackedChangesMax
    }

    /// Which chunks are joined with the one before, as far as one chunk may hold both.
    package enum Joining { case all, similarOnly }

    /// Packs all but the newest changes. A change that replaced everything, which may have no history before it, stays a row.
    ///
    /// - Parameter runsMax: how many chunks are made at most, of the oldest changes.
    func pack(_ text: Int64, leaving kept: Int, joining: Joining, runsMax: Int = .max) throws {
        guard let newest = try ChangeRows(connection).first(of: text, leaving: max(1, kept)) else { return }
        for run in try runs(text, upTo: newest).prefix(runsMax) {
            let changes = try unpacked(text, endingAt: run.range.upperBound, max: run.count, operations: true)
            guard changes.count == run.count else { throw Self.corrupt }
            guard try save(changes.reversed(), of: text) else { continue }
            try ChangeRows(connection).remove(text, run.range)
            try joinChunks(of: text, endingAt: run.range.upperBound, joining)
        }
    }

    /// Rows without a gap that can be packed together.
    private func runs(_ text: Int64, upTo newest: Int) throws -> [(range: Range<Int>, count: Int)] {
        let old = try ChangeRows(connection).selectingSizes(of: text, upTo: newest)
        var runs: [(range: Range<Int>, count: Int)] = []
        var isOpen = false
        var bytes = 0
        while try old.step() {
            try check(first: old.int(0), length: old.int(1))
            let (first, end) = (old.int(0), old.int(0) + old.int(1))
            guard old.int(2) != 0 else {
                isOpen = false
                continue
            }
            bytes += old.int(3)
            if isOpen, let last = runs.last, last.range.upperBound == first, last.count < Self.chunkChangesMax,
                bytes <= Self.chunkBytesMax
            {
                runs[runs.count - 1] = (last.range.lowerBound..<end, last.count + 1)
            } else {
                runs.append((first..<end, 1))
                bytes = old.int(3)
            }
            isOpen = true
        }
        return runs
    }

    private func joinChunks(of text: Int64, endingAt end: Int, _ joining: Joining) throws {
        while let newer = try chunk(text, before: end), let start = newer.headers.first?.firstEvent, start > 0,
            let older = try chunk(text, before: start), joining == .all || older.headers.count <= 2 * newer.headers.count,
            older.headers.count + newer.headers.count <= Self.chunkChangesMax
        {
            let changes = try self.changes(text, before: start) + self.changes(text, before: end)
            guard changes.contentBytes <= Self.chunkBytesMax else { return }
            for header in [older.headers.first, newer.headers.first].compactMap(\.self) {
                try ChunkRows(connection).remove(text, first: header.firstEvent)
            }
            guard try save(changes, of: text) else { throw Self.corrupt }
        }
    }

    /// - Returns: `false` if the changes are too large for a chunk.
    private func save(_ changes: [ArchivedChange], of text: Int64) throws -> Bool {
        guard let first = changes.first?.header.firstEvent, let end = changes.last?.header.end,
            changes.contentBytes < TextLimits.encodedBytesMax - 16
        else { return false }
        try ChunkRows(connection).add(try PackedChanges(changes), of: text, first..<end)
        return true
    }

    /// Packs the history of all texts as far as possible.
    package func packAll() throws {
        for number in try numbers() { try pack(number, leaving: 1, joining: .all) }
    }

    // MARK: Reading

    /// The graph of a packed chunk, and what else is in it.
    package struct Chunk {
        package let headers: [TextChangeHeader]
        package let packed: PackedChanges
    }

    /// The packed chunk with the event before `end`.
    package func chunk(_ text: Int64, before end: Int, body: Bool = false) throws -> Chunk? {
        let select = try ChunkRows(connection).selecting(text, before: end, body: body)
        guard try select.step() else { return nil }
        defer { select.reset() }
        guard select.int(1) >= end else { return nil }
        return try Self.reading {
            let packed = PackedChanges(
                times: select.blob(2), graph: select.blob(3), body: body ? select.blob(4) : [])
            let headers = try packed.headers(firstEvent: select.int(0))
            guard headers.last?.end == select.int(1) else { throw Self.corrupt }
            return Chunk(headers: headers, packed: packed)
        }
    }

    /// The changes of the packed chunk with the event before `end`; none if there is no such chunk.
    package func changes(_ text: Int64, before end: Int, operations: Bool = true) throws -> [ArchivedChange] {
        guard let chunk = try chunk(text, before: end, body: operations) else { return [] }
        return try Self.reading {
            let times = try chunk.packed.timestamps(count: chunk.headers.count)
            let bodies = operations ? try chunk.packed.operations(of: chunk.headers) : []
            return chunk.headers.indices.map { index in
                ArchivedChange(
                    header: chunk.headers[index], timestamp: times[index],
                    operations: operations ? bodies[index] : TextOperations())
            }
        }
    }

    private static func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch is WireError {
            throw corrupt
        }
    }
}

extension [ArchivedChange] {
    /// Bytes of their operations and inserted text.
    fileprivate var contentBytes: Int {
        reduce(0) { $0 + $1.operations.encodedSteps.count + $1.operations.encodedText.count }
    }
}
