import Dispatch
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The signals that ask the process to stop: Ctrl-C, `kill`, and a terminal that was closed.
final class StopSignals {
    /// How long an orderly stop may take.
    static let stopMillisecondsMax = 900

    /// Yields each signal.
    let stream: AsyncStream<Int32>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(1))
        self.stream = stream
        // A reader of our output that has gone must not end the synchronisation.
        signal(SIGPIPE, SIG_IGN)
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            // Elsewhere the source does that itself, a moment later; until then the signal ends the process, and is not lost.
            #if canImport(Darwin)
            signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.resume()
            return source
        }
    }

    /// Ends the process if the orderly stop takes too long; what was committed is safe at any moment.
    ///
    /// - Parameter end: how, as the orderly stop would.
    static func exitIfNotDone(_ end: @escaping @Sendable () -> Void = { exit(0) }) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(stopMillisecondsMax)) { end() }
    }

    /// Ends the process as the signal ends one that does nothing about it.
    static func endProcess(by number: Int32) {
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }
}
