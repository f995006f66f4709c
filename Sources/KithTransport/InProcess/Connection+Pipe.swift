import Foundation
import KithTrust
import NIOCore
import NIOPosix

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#elseif canImport(Glibc)
import Glibc
#endif

extension Connection {
    /// The two ends of a connection within this process.
    static func pipe(
        from dialling: DeviceCertificate, to answering: DeviceCertificate, _ configuration: TransportConfiguration
    ) async throws(TransportError) -> (dialling: Connection, answering: Connection) {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        var descriptors: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, kind, 0, &descriptors) == 0 else {
            throw TransportError(.unreachable, "No connection can be made within the process: \(String(cString: strerror(errno))).")
        }
        let first: Connection
        do {
            first = try await end(descriptors[0], peer: answering, isInitiator: true, configuration)
        } catch {
            closeDescriptor(descriptors[1])
            throw TransportError(.unreachable, "No connection can be made within the process: \(error)")
        }
        do {
            return (first, try await end(descriptors[1], peer: dialling, isInitiator: false, configuration))
        } catch {
            first.abort(reason: "its other end cannot be made")
            throw TransportError(.unreachable, "No connection can be made within the process: \(error)")
        }
    }

    private static func end(
        _ descriptor: Int32, peer: DeviceCertificate, isInitiator: Bool, _ configuration: TransportConfiguration
    ) async throws -> Connection {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .channelOption(.autoRead, value: false)
            .withConnectedSocket(descriptor)
            .flatMapThrowing { channel in
                let connection = try Connection(
                    channel: channel, certificate: peer, isInitiator: isInitiator, saysGoodbye: false, configuration: configuration)
                try channel.syncOptions?.setOption(.autoRead, value: true)
                return connection
            }.get()
    }
}

/// `close(2)`, by a name that a method may use.
private func closeDescriptor(_ descriptor: Int32) {
    close(descriptor)
}
