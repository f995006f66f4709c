#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What is printed on standard error if the process dies of a trap, which nothing can catch: otherwise nobody knew in which seed.
enum TrapNote {
    private static let signals = [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE]
    private static let bytesMax = 4_096

    // The handler may interrupt anything and so takes no lock; it finds all made, for `prepare` was there before it. One thread runs seeds
    // and writes the line. Should another one trap meanwhile, a line mixed of two is printed: its last byte is always 0.
    private nonisolated(unsafe) static let line = UnsafeMutablePointer<CChar>.allocate(capacity: bytesMax)
    private nonisolated(unsafe) static let earlier = UnsafeMutablePointer<sigaction>.allocate(capacity: signals.count)

    /// From now on the line is printed, once, before what happened to such processes anyway.
    static func prepare() { _ = isPrepared }

    // Once: what was there earlier must not be this handler itself.
    private static let isPrepared: Bool = {
        line.initialize(repeating: 0, count: bytesMax)
        // A process inherits what the thread that began it had blocked.
        var all = sigset_t()
        sigemptyset(&all)
        for signal in signals { sigaddset(&all, signal) }
        _ = pthread_sigmask(SIG_UNBLOCK, &all, nil)
        for (index, signal) in signals.enumerated() {
            var action = sigaction()
            action.handler = { signal in
                _ = write(STDERR_FILENO, TrapNote.line, strlen(TrapNote.line))
                for (index, other) in TrapNote.signals.enumerated() where other == signal {
                    _ = sigaction(signal, TrapNote.earlier + index, nil)
                }
                _ = raise(signal)
            }
            (earlier + index).initialize(to: sigaction())
            _ = sigaction(signal, &action, earlier + index)
        }
        return true
    }()

    /// What to print; what is too long is cut.
    static func set(_ text: String) {
        var length = 0
        for byte in text.utf8.prefix(bytesMax - 2) {
            line[length] = CChar(bitPattern: byte)
            length += 1
        }
        line[length] = CChar(bitPattern: UInt8(ascii: "\n"))
        line[length + 1] = 0
    }
}

extension sigaction {
    fileprivate var handler: @convention(c) (Int32) -> Void {
        get { { _ in } }
        set {
            #if canImport(Darwin)
            __sigaction_u.__sa_handler = newValue
            #else
            __sigaction_handler.sa_handler = newValue
            #endif
        }
    }
}
