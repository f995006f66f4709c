/// Why something about discovery is not possible.
package enum DiscoveryError: Error, Hashable, Sendable {
    /// The mDNS daemon does not answer or went away. `code` is the `DNSServiceErrorType` it came with.
    case daemonUnavailable(code: Int32)
    /// A key of a TXT record must be printable ASCII without `=`.
    case invalidTextKey(String)
    /// A TXT record or one of its entries would take more bytes than `limit`.
    case textTooLong(bytes: Int, limit: Int)
    /// A TXT record ends in the middle of a string.
    case malformedText

    /// A short name that does not change between versions.
    var code: String {
        switch self {
        case .daemonUnavailable: "daemon-unavailable"
        case .invalidTextKey: "invalid-text-key"
        case .textTooLong: "text-too-long"
        case .malformedText: "malformed-text"
        }
    }
}

extension DiscoveryError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .daemonUnavailable(let code):
            "No mDNS on this machine: its daemon does not answer (dns_sd error \(code)). Nodes are not found by themselves, "
                + "but nodes given by address work. On Linux, install and start avahi-daemon and dbus."
        case .invalidTextKey(let key):
            "\"\(key)\" cannot be the key of a TXT record; use printable ASCII without \"=\"."
        case .textTooLong(let bytes, let limit):
            "The TXT record would need \(bytes) bytes where \(limit) are allowed; announce less."
        case .malformedText:
            "A TXT record ends in the middle of a string."
        }
    }
}
