import CFileFormats
import Crypto
import Foundation

/// Writes a tar archive (pax, compressed by gzip), as a stream.
final class TarWriter {
    private let archive: UnsafeMutableRawPointer
    private let sink: Sink

    /// Where the bytes go; what it throws ends the writing.
    private final class Sink {
        let write: ([UInt8]) throws -> Void
        var failure: (any Error)?

        init(_ write: @escaping ([UInt8]) throws -> Void) {
            self.write = write
        }
    }

    init(_ write: @escaping ([UInt8]) throws -> Void) throws {
        let sink = Sink(write)
        let made = kith_archive_make(Unmanaged.passUnretained(sink).toOpaque()) { context, bytes, count in
            guard let context, let bytes else { return -1 }
            let sink = Unmanaged<Sink>.fromOpaque(context).takeUnretainedValue()
            do {
                try sink.write([UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
                return count
            } catch {
                sink.failure = error
                return -1
            }
        }
        guard let made else { throw FilesError(.inputOutput, "There is not enough memory.") }
        (archive, self.sink) = (made, sink)
    }

    deinit {
        kith_archive_discard(archive)
    }

    /// Adds a file of these bytes.
    func add(_ name: String, _ bytes: [UInt8]) throws {
        try check(kith_archive_begin(archive, name, Int64(bytes.count)))
        try write(bytes)
    }

    /// Adds a copy of a file, which does not change meanwhile.
    /// - Returns: the SHA-256 of its bytes.
    func add(_ name: String, contentsOf file: URL) throws -> [UInt8] {
        let size = try FileHash.size(of: file)
        try check(kith_archive_begin(archive, name, Int64(size)))
        return try FileHash.sha256(of: file) { try self.write($0) }
    }

    /// Nothing may be added afterwards.
    func finish() throws {
        try check(kith_archive_finish(archive))
    }

    private func write(_ bytes: [UInt8]) throws {
        try check(bytes.withUnsafeBytes { kith_archive_write(archive, $0.baseAddress, $0.count) })
    }

    private func check(_ result: Int32) throws {
        guard result != 0 else { return }
        throw sink.failure ?? FilesError(.inputOutput, "The archive cannot be written.")
    }
}
