@preconcurrency import Dispatch

#if canImport(Network)
import Network
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Tells when cables are pulled and plugged in, and when addresses come and go: from the kernel (rtnetlink(7)) on Linux, from the path
/// monitor on Apple's systems. Where neither can be had, nothing is told, and what is lost is found out by silence.
enum NetworkWatch {
    /// What comes within this time is told together: a link that comes up gets its addresses one by one.
    static let pauseMilliseconds = 50

    /// The network now, and after each change. Ends when the task that reads it is cancelled.
    static var networks: AsyncStream<LocalNetwork> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let queue = DispatchQueue(label: "kith.links")
            let tell: @Sendable () -> Void = {
                if let network = LocalNetwork.current { continuation.yield(network) }
            }
            let stop = watch(on: queue) {
                queue.asyncAfter(deadline: .now() + .milliseconds(pauseMilliseconds), execute: tell)
            }
            continuation.onTermination = { _ in stop() }
            queue.async(execute: tell)
        }
    }

    #if canImport(Network)
    private static func watch(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { _ in changed() }
        monitor.start(queue: queue)
        return { monitor.cancel() }
    }
    #elseif os(Linux)
    /// `sockaddr_nl` of netlink(7).
    private struct NetlinkAddress {
        var family = UInt16(16)  // AF_NETLINK
        var padding = UInt16(0)
        var processID = UInt32(0)
        /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR and RTMGRP_IPV6_IFADDR.
        var groups = UInt32(0x1 | 0x10 | 0x100)
    }

    private static func watch(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(16, kind, 0)  // AF_NETLINK, NETLINK_ROUTE
        guard descriptor >= 0 else { return {} }
        var address = NetlinkAddress()
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<NetlinkAddress>.size)) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            return {}
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler {
            // What the messages say is looked up instead; also when there were too many (ENOBUFS).
            var bytes = [UInt8](repeating: 0, count: 16_384)
            while recv(descriptor, &bytes, bytes.count, 0) > 0 {}
            changed()
        }
        source.setCancelHandler { close(descriptor) }
        source.resume()
        return { source.cancel() }
    }
    #else
    private static func watch(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> @Sendable () -> Void { {} }
    #endif
}
