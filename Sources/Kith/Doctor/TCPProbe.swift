import Dispatch
import KithTrust

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Looks whether anybody listens at an address, and says nothing to whoever does.
enum TCPProbe {
    /// Whether a connection comes about within this time. It is closed at once.
    static func isListening(at address: PeerAddress, milliseconds: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            // Looking a name up and waiting block a thread.
            DispatchQueue.global().async {
                continuation.resume(returning: connects(to: address, milliseconds: milliseconds))
            }
        }
    }

    private static func connects(to address: PeerAddress, milliseconds: Int) -> Bool {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Darwin)
        hints.ai_socktype = SOCK_STREAM
        #else
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, String(address.port), &hints, &found) == 0 else { return false }
        defer { freeaddrinfo(found) }
        var next = found
        while let info = next {
            if connects(info.pointee, milliseconds: milliseconds) { return true }
            next = info.pointee.ai_next
        }
        return false
    }

    private static func connects(_ info: addrinfo, milliseconds: Int) -> Bool {
        let descriptor = socket(info.ai_family, info.ai_socktype, info.ai_protocol)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) >= 0 else { return false }
        if connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 { return true }
        guard errno == EINPROGRESS else { return false }
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&wait, 1, Int32(clamping: milliseconds)) == 1 else { return false }
        var (error, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0
    }
}
