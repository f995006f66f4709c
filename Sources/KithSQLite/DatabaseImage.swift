import GRDB
import GRDBSQLite

/// A database file and its write-ahead log as they are on the disk, in memory, for where SQLite cannot open them: it makes a file beside
/// a database in WAL mode even to read it, which a full disk or a read-only one does not allow.
///
/// The formats are those of <https://www.sqlite.org/fileformat2.html>. Nothing is written, and no lock is taken.
package struct DatabaseImage {
    /// The pages of the database, of the last commit in the log.
    package private(set) var bytes: [UInt8]

    private static let headerBytes = 100
    private static let frameHeaderBytes = 24
    private static let logHeaderBytes = 32

    /// While this reads, another process may write, unless it begins the log anew. The image reads the log after the database: so it finds
    /// there each page that the other process brings into the database until then. Frames after the last commit do not count.
    ///
    /// - Throws: ``StoreError`` with code `notFound`, `notAStore`, or `busy` if another process begins the log anew all the time,
    ///   or writes a database that has none.
    package init(readingFrom path: String) throws {
        let path = DatabaseFile.path(of: path)
        for _ in 0..<Self.readsMax {
            let before = try Self.generation(path)
            let database = try Self.content(path)
            let log = try Self.content(path + "-wal") ?? []
            guard try before == Self.generation(path) else { continue }
            guard let database else { throw StoreError(.notFound, "There is no file \(path).") }
            bytes = database
            if bytes.isEmpty { return }
            guard bytes.count >= Self.headerBytes, bytes.starts(with: Array("SQLite format 3\0".utf8)) else {
                throw StoreError(.notAStore, "The file is not an SQLite database.")
            }
            apply(log)
            // A database in memory has no write-ahead log: the versions for writing and reading say so.
            bytes[18] = 1
            bytes[19] = 1
            return
        }
        throw StoreError(.busy, "Another process writes \(path) all the time. Try again.")
    }

    private static let readsMax = 10

    /// Hands the image to a database in memory.
    package func load(into db: Database) throws {
        guard !bytes.isEmpty else { return }
        guard let handle = db.sqliteConnection, let buffer = sqlite3_malloc64(sqlite3_uint64(bytes.count)) else {
            throw StoreError(.failed, "There is not enough memory for the \(bytes.count >> 20) MiB of the store.")
        }
        bytes.withUnsafeBytes { buffer.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(buffer), byteCount: $0.count) }
        let count = sqlite3_int64(bytes.count)
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
        // It frees the buffer also when it fails.
        let code = sqlite3_deserialize(handle, "main", buffer.assumingMemoryBound(to: UInt8.self), count, count, flags)
        guard code == SQLITE_OK else { throw StoreError(.failed, "The store cannot be read into memory (SQLite error \(code)).") }
    }

    // MARK: Files

    private static func content(_ path: String) throws -> [UInt8]? {
        guard let file = try OpenFile(reading: path), let size = try file.size() else { return nil }
        return try file.read(at: 0, count: Int(size))
    }

    /// The header of the log, which changes when the log begins anew. Without a log, size and time of both files.
    private static func generation(_ path: String) throws -> [Int64?] {
        if let log = try OpenFile(reading: path + "-wal"), try log.size() != nil {
            let header = try log.read(at: 0, count: logHeaderBytes)
            if header.count == logHeaderBytes { return header.map(Int64.init) }
        }
        return [path, path + "-wal"].flatMap { [OpenFile.size(of: $0), OpenFile.modified($0)] }
    }

    // MARK: The log

    /// Takes over the pages of all frames up to the last commit; what comes after the first frame that is not valid does not count.
    private mutating func apply(_ log: [UInt8]) {
        guard log.count >= Self.logHeaderBytes, Self.word(log, 0) & ~1 == 0x377F_0682 else { return }
        let pageBytes = Int(Self.word(log, 8))
        guard pageBytes >= 512, pageBytes <= 65_536, pageBytes & (pageBytes - 1) == 0 else { return }
        var checksum = Checksum(isBigEndian: Self.word(log, 0) & 1 == 1)
        checksum.add(log[0..<24])
        guard checksum.isAt(log, 24) else { return }
        var pages: [Int: Int] = [:]
        var committed: [Int: Int] = [:]
        var pageCount: Int?
        var start = Self.logHeaderBytes
        while start + Self.frameHeaderBytes + pageBytes <= log.count {
            let content = start + Self.frameHeaderBytes
            guard log[start + 8..<start + 16] == log[16..<24] else { break }
            checksum.add(log[start..<start + 8])
            checksum.add(log[content..<content + pageBytes])
            guard checksum.isAt(log, start + 16), Self.word(log, start) > 0 else { break }
            pages[Int(Self.word(log, start))] = content
            let count = Int(Self.word(log, start + 4))
            if count > 0 {
                committed.merge(pages) { $1 }
                pages = [:]
                pageCount = count
            }
            start = content + pageBytes
        }
        guard let pageCount else { return }
        let end = pageCount * pageBytes
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        for (page, content) in committed where page <= pageCount {
            bytes.replaceSubrange((page - 1) * pageBytes..<page * pageBytes, with: log[content..<content + pageBytes])
        }
        bytes.removeLast(bytes.count - end)
    }

    private static func word(_ bytes: [UInt8], _ at: Int) -> UInt32 {
        bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The running checksum of a write-ahead log: pairs of words, each sum takes in the other one.
    private struct Checksum {
        let isBigEndian: Bool
        private var first: UInt32 = 0
        private var second: UInt32 = 0

        init(isBigEndian: Bool) {
            self.isBigEndian = isBigEndian
        }

        /// As many bytes as are divisible by eight.
        mutating func add(_ bytes: ArraySlice<UInt8>) {
            bytes.withUnsafeBytes { buffer in
                for offset in stride(from: 0, to: buffer.count - 7, by: 8) {
                    first = first &+ word(buffer, offset) &+ second
                    second = second &+ word(buffer, offset + 4) &+ first
                }
            }
        }

        func isAt(_ bytes: [UInt8], _ at: Int) -> Bool {
            first == DatabaseImage.word(bytes, at) && second == DatabaseImage.word(bytes, at + 4)
        }

        private func word(_ buffer: UnsafeRawBufferPointer, _ at: Int) -> UInt32 {
            let word = buffer.loadUnaligned(fromByteOffset: at, as: UInt32.self)
            return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
        }
    }
}
