import Kith

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A place on the loopback that takes connections and says nothing.
final class SilentPlace {
    let address: PeerAddress
    private let descriptor: Int32

    init() throws {
        #if canImport(Darwin)
        let kind = SOCK_STREAM
        #else
        let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        self.descriptor = descriptor
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &place) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                bind(descriptor, place, length) == 0 && listen(descriptor, 64) == 0 && getsockname(descriptor, place, &length) == 0
            }
        }
        guard isListening else { throw Failure() }
        address = try PeerAddress(host: "127.0.0.1", port: Int(UInt16(bigEndian: place.sin_port)))
    }

    deinit { close(descriptor) }

    struct Failure: Error {}
}
