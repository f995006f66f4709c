import Foundation
import Kith

/// Where a page is served, and under which names.
struct PagePlace {
    /// The address to listen on.
    let listens: String
    /// The name in the address that is shown.
    let host: String
    let names: [String]
    /// `nil` on this machine alone, where nothing leaves it.
    let certificate: PageCertificate?

    /// - Throws: ``PageError/noNetwork``, or what keeps the certificate from being made.
    init(_ configuration: PageConfiguration) throws {
        guard configuration.isOnLocalNetwork else {
            (listens, host, names, certificate) = ("127.0.0.1", "127.0.0.1", PageNames.loopback, nil)
            return
        }
        let addresses = (LocalNetwork.current?.addresses ?? []).filter { $0.contains(".") && !$0.contains(":") }
        guard let first = addresses.first(where: Self.isPrivate) ?? addresses.first else { throw PageError.noNetwork }
        let name = String(ProcessInfo.processInfo.hostName.prefix { $0 != "." })
        listens = "0.0.0.0"
        host = first
        names = PageNames.loopback + addresses + [name, name + ".local"]
        certificate = try PageCertificate(in: configuration.folder.appending(path: "tls"))
    }

    /// Whether an address is one of those at home (RFC 1918).
    private static func isPrivate(_ address: String) -> Bool {
        let parts = address.split(separator: ".").compactMap { Int($0) }
        guard parts.count == 4 else { return false }
        return parts[0] == 10 || parts[0] == 192 && parts[1] == 168 || parts[0] == 172 && (16...31).contains(parts[1])
    }
}
