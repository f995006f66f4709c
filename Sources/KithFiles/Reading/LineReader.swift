import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Reads a file line by line, however large it is.
struct LineReader: ~Copyable {
    private let descriptor: Int32
    private let path: String
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// Bytes of a line.
    private let bytesMax: Int

    init(_ path: String, bytesMax: Int) throws(FilesError) {
        (self.path, self.bytesMax) = (path, bytesMax)
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw FilesError(.notFound, "\(path) cannot be read (\(ForeignFile.systemMessage())).") }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The next line without its end; `nil` at the end of the file.
    mutating func next() throws(FilesError) -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return Array(buffer[start..<end])
            }
            searched = buffer.count
            if isAtEnd {
                defer { start = buffer.count }
                return start < buffer.count ? Array(buffer[start...]) : nil
            }
            if buffer.count - start > bytesMax { throw FilesError(.data, "\(path) has a line of more than \(bytesMax >> 20) MiB.") }
            buffer.removeFirst(start)
            searched -= start
            start = 0
            try fill()
        }
    }

    private mutating func fill() throws(FilesError) {
        let room = 1 << 20
        let old = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: room))
        let count = buffer.withUnsafeMutableBytes { systemRead(descriptor, UnsafeMutableRawBufferPointer(rebasing: $0[old...])) }
        buffer.removeLast(room - max(0, count))
        if count < 0, errno != EINTR { throw FilesError(.inputOutput, "\(path) cannot be read (\(ForeignFile.systemMessage())).") }
        if count == 0 { isAtEnd = true }
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
