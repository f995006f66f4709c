import KithCausality
import KithSync
import KithText

extension TextArchive {
    /// Changes of a text that are kept one a row, at most about so many; older ones are packed.
    static let unpackedChangesMax = 256
    /// The newest ones are never packed.
    static let unpackedChangesMin = 64
    /// Changes of one chunk.
    private static let chunkChangesMax = 1_024

    /// A packed chunk.
    struct Chunk {
        let headers: [TextChangeHeader]
        let times: [HybridTimestamp]
        let body: [UInt8]
    }

    /// Packs old changes if there are many. Lossless, and a matter of this store alone.
    func packIfLarge(_ text: ArchivedText) throws {
        let count = try connection.statement("SELECT count(*) FROM kith_text_change WHERE text = ? AND replaced IS NULL")
        count.bind(1, text.number)
        let rows = try count.step() ? count.int(0) : 0
        count.reset()
        if rows > Self.unpackedChangesMax { try pack(text.number, leaving: Self.unpackedChangesMin) }
    }

    /// Packs all but the newest changes. A change that replaced everything, which may have no history before it, stays a row.
    func pack(_ text: Int64, leaving kept: Int) throws {
        let select = try connection.statement(
            "SELECT first FROM kith_text_change WHERE text = ? ORDER BY first DESC LIMIT 1 OFFSET ?")
        select.bind(1, text)
        select.bind(2, max(1, kept))
        guard try select.step() else { return }
        let newest = select.int(0)
        select.reset()
        let old = try connection.statement(
            "SELECT first, length, replaced IS NULL FROM kith_text_change WHERE text = ? AND first <= ? ORDER BY first")
        old.bind(1, text)
        old.bind(2, newest)
        var runs: [(range: Range<Int>, count: Int)] = []
        var isOpen = false
        while try old.step() {
            let (first, end) = (old.int(0), old.int(0) + old.int(1))
            guard old.int(2) != 0 else {
                isOpen = false
                continue
            }
            if isOpen, let last = runs.last, last.range.upperBound == first, last.count < Self.chunkChangesMax {
                runs[runs.count - 1] = (last.range.lowerBound..<end, last.count + 1)
            } else {
                runs.append((first..<end, 1))
            }
            isOpen = true
        }
        for run in runs where run.count > 1 { try pack(text, run.range, count: run.count) }
    }

    private func pack(_ text: Int64, _ range: Range<Int>, count: Int) throws {
        let changes = try unpacked(text, endingAt: range.upperBound, max: count, operations: true).reversed()
        guard changes.count == count else { throw Self.corrupt }
        let insert = try connection.statement(
            "INSERT INTO kith_text_chunk (text, first, end, times, graph, body) VALUES (?, ?, ?, ?, ?, ?)")
        insert.bind(1, text)
        insert.bind(2, range.lowerBound)
        insert.bind(3, range.upperBound)
        var times = ByteWriter()
        var previous: UInt64 = 0
        for change in changes {
            times.signed(Int64(bitPattern: change.timestamp.rawValue &- previous))
            previous = change.timestamp.rawValue
        }
        let body = TextChunk.encodeBody(changes.map(\.operations))
        guard body.count <= TextLimits.encodedBytesMax else { return }
        insert.bind(4, blob: times.bytes)
        insert.bind(5, blob: try TextChunk.encodeGraph(changes.map(\.header)))
        insert.bind(6, blob: body)
        try insert.run()
        let delete = try connection.statement("DELETE FROM kith_text_change WHERE text = ? AND first >= ? AND first < ?")
        delete.bind(1, text)
        delete.bind(2, range.lowerBound)
        delete.bind(3, range.upperBound)
        try delete.run()
    }

    /// The packed chunk with the event before `end`.
    func chunk(_ text: Int64, before end: Int, body: Bool = false) throws -> Chunk? {
        let select = try connection.statement(
            """
            SELECT first, end, times, graph\(body ? ", body" : "") FROM kith_text_chunk
            WHERE text = ? AND first < ? ORDER BY first DESC LIMIT 1
            """)
        select.bind(1, text)
        select.bind(2, end)
        guard try select.step() else { return nil }
        defer { select.reset() }
        guard select.int(1) >= end else { return nil }
        let headers = try TextChunk.decodeGraph(select.blob(3), firstEvent: select.int(0))
        guard headers.last?.end == select.int(1) else { throw Self.corrupt }
        var reader = ByteReader(select.blob(2))
        var times: [HybridTimestamp] = []
        var previous: UInt64 = 0
        do {
            for _ in headers {
                previous = previous &+ UInt64(bitPattern: try reader.signed())
                times.append(HybridTimestamp(rawValue: previous))
            }
        } catch {
            throw Self.corrupt
        }
        return Chunk(headers: headers, times: times, body: body ? select.blob(4) : [])
    }
}

extension KithStore {
    /// Packs the history of all texts as far as possible. Done by itself, text by text, when there is much to pack.
    public func packTexts() throws {
        try write { _, state in
            let archive = TextArchive(ledger: state.ledger)
            let select = try archive.connection.statement("SELECT number FROM kith_text")
            var numbers: [Int64] = []
            while try select.step() { numbers.append(select.integer(0)) }
            for number in numbers { try archive.pack(number, leaving: 1) }
        }
    }
}
