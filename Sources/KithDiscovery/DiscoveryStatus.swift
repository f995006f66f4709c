/// Whether nodes can be found by mDNS right now.
package enum DiscoveryStatus: Hashable, Sendable {
    case running
    /// The mDNS daemon of this machine cannot be used; it is tried again from time to time. What was found before stays as it is.
    case unavailable(DiscoveryError)
}
