import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Lets one process of this machine at a time open the notes of a folder: two that make the same tables at once are in each
/// other's way. The turn ends with this object, or with the process. See flock(2).
final class OpeningTurn {
    private static let pauseSeconds = 0.002
    private let descriptor: Int32

    /// Waits until nobody else opens the notes of `folder`, `waitSeconds` at most: whoever takes longer, with a large store, does
    /// not keep the others out. Where folders cannot be locked there are no turns.
    init(in folder: URL, waitSeconds: Double) {
        descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        var waitedSeconds = 0.0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR, waitedSeconds < waitSeconds {
            Thread.sleep(forTimeInterval: Self.pauseSeconds)
            waitedSeconds += Self.pauseSeconds
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
