import Foundation

/// The lines of standard input.
enum InputLines {
    /// As they come, until the end of the input. For one reader.
    static var all: AsyncStream<String> {
        AsyncStream { continuation in
            // A thread of its own, since reading blocks; the end of the process ends it.
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }
}
