import Dispatch
import Foundation
import KithFiles
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A signal ends a command that has begun something as it ends any other, but cleans up first.
enum Interruption {
    /// What is to be done then, the last first.
    private static let cleanUps = Mutex<[@Sendable () -> Void]>([])

    /// Runs `body`, which makes or reads large files: nothing that is half done stays.
    static func leavingNothing<Result>(_ body: () throws -> Result) rethrows -> Result {
        try cleaningUp({ Leftovers.removeAll() }, body)
    }

    static func cleaningUp<Result>(_ cleanUp: @escaping @Sendable () -> Void, _ body: () throws -> Result) rethrows -> Result {
        let depth = cleanUps.withLock { all in
            all.append(cleanUp)
            return all.count
        }
        let sources = depth == 1 ? Self.sources() : []
        defer {
            for source in sources {
                source.cancel()
                signal(Int32(source.handle), SIG_DFL)
            }
            cleanUps.withLock { _ = $0.removeLast() }
        }
        return try body()
    }

    private static func sources() -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM, SIGHUP].compactMap { number in
            let before = signal(number, SIG_IGN)
            // `nohup` has the program ignore a signal, and other code may handle it: both stay as they are.
            guard before == nil else {
                signal(number, before)
                return nil
            }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                for cleanUp in cleanUps.withLock({ $0 }).reversed() { cleanUp() }
                signal(number, SIG_DFL)
                kill(getpid(), number)
            }
            source.resume()
            return source
        }
    }
}
