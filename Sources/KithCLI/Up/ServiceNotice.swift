import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Tells the service manager that started this process how it is: datagrams to the socket that it named, as in sd_notify(3).
struct ServiceNotice: Sendable {
    private let path: String

    /// `nil` where no service manager waits for news.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        self.path = path
    }

    /// The node runs.
    func ready() { send("READY=1") }

    /// It stops in order.
    func stopping() { send("STOPPING=1") }

    /// What it is doing, for `systemctl status`.
    func status(_ sentence: String) { send("STATUS=" + PlainText.line(sentence)) }

    /// A failure is not reported: the service manager has its own clock.
    private func send(_ message: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + name.count }
        // An abstract name begins with a zero byte.
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        #if canImport(Darwin)
        let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
        guard descriptor >= 0, let length else { return }
        defer { close(descriptor) }
        let bytes = Array(message.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(length)) }
        }
    }
}
