import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What wakes the view: keys, news of others, a window of another size.
///
/// The signals that end a program only leave a mark here, so that the terminal is given back first.
final class ViewWaking: Sendable {
    private static let isStopping = Atomic(false)
    private let reading: Int32
    private let writing: Int32

    init() throws(CommandFailure) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw CommandFailure(.software, "No pipe can be made (\(StandardStreams.systemMessage())).")
        }
        (reading, writing) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        _ = Self.isStopping.load(ordering: .relaxed)
        for number in [SIGTERM, SIGHUP, SIGINT] {
            signal(number) { _ in ViewWaking.isStopping.store(true, ordering: .relaxed) }
        }
        // That it comes is enough: poll(2) returns.
        signal(SIGWINCH) { _ in }
    }

    deinit {
        close(reading)
        close(writing)
        for number in [SIGTERM, SIGHUP, SIGINT, SIGWINCH] { signal(number, SIG_DFL) }
    }

    /// From any thread.
    func wake() {
        var byte: UInt8 = 0
        _ = write(writing, &byte, 1)
    }

    enum Event {
        case bytes([UInt8])
        case other
        /// The terminal is gone, or a signal asks to stop.
        case end
    }

    /// Waits for something, at most so long.
    func wait(milliseconds: Int) -> Event {
        if Self.isStopping.load(ordering: .relaxed) { return .end }
        var descriptors = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0), pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&descriptors, 2, Int32(milliseconds))
        if Self.isStopping.load(ordering: .relaxed) { return .end }
        if count <= 0 { return .other }
        var buffer = [UInt8](repeating: 0, count: 1 << 10)
        if descriptors[1].revents != 0 { _ = read(reading, &buffer, buffer.count) }
        guard descriptors[0].revents != 0 else { return .other }
        let bytes = read(STDIN_FILENO, &buffer, buffer.count)
        if bytes < 0, errno == EINTR || errno == EAGAIN { return .other }
        return bytes > 0 ? .bytes(Array(buffer.prefix(bytes))) : .end
    }
}
