import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A stream that people or programs read.
package struct Console: Sendable {
    package static let output = Console(descriptor: STDOUT_FILENO)
    package static let error = Console(descriptor: STDERR_FILENO)

    private let descriptor: Int32
    package let isTerminal: Bool
    /// Whether colors may be used: on a terminal, unless NO_COLOR (no-color.org) or a dumb terminal says no.
    package let usesColor: Bool

    package init(descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        usesColor = isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// Columns of the terminal; `nil` if it is none.
    package var width: Int? {
        guard isTerminal else { return nil }
        return size.map { Int($0.ws_col) }.flatMap { $0 > 0 ? $0 : nil } ?? 80
    }

    /// Lines of the terminal; `nil` if it is none.
    package var height: Int? {
        guard isTerminal else { return nil }
        return size.map { Int($0.ws_row) }.flatMap { $0 > 0 ? $0 : nil } ?? 24
    }

    private var size: winsize? {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
    }

    package func write(_ text: String) throws(CommandFailure) {
        try write(bytes: Array(text.utf8))
    }

    package func write(bytes: [UInt8]) throws(CommandFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw CommandFailure(
                    .inputOutput, "The output could not be written (\(StandardStreams.systemMessage())); what was asked for is done.")
            }
        }
    }

    package func writeLine(_ text: String) throws(CommandFailure) {
        try write(text + "\n")
    }

    /// Writes `value` as JSON, over several lines unless `isCompact`.
    package func write(json value: some Encodable, isCompact: Bool = false) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting =
            isCompact ? [.sortedKeys, .withoutEscapingSlashes] : [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try writeLine(Self.harmless(String(decoding: encoder.encode(value), as: UTF8.self)))
    }

    /// The same JSON without characters that control a terminal: beside those below U+0020, which JSON itself escapes, there are others
    /// that some terminals take for the beginning of a sequence.
    package static func harmless(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: { (0x7F...0x9F).contains($0.value) }) else { return json }
        var text = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            if (0x7F...0x9F).contains(scalar.value) {
                // They stand in strings alone, where this is another way to write them.
                text.append(contentsOf: "\\u00\(String(scalar.value, radix: 16))".unicodeScalars)
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
