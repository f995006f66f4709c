/// What discovery has to say. Of several events about one name only the sum is delivered when the reader is slow.
package enum DiscoveryEvent: Hashable, Sendable {
    /// A node is announced and has at least one address.
    case appeared(Announcement)
    /// The port, host, addresses or attributes of a node that appeared earlier are others now.
    case changed(Announcement)
    /// A node is no longer announced. That says nothing about a connection that is up: anyone can send this too.
    case disappeared(InstanceName)
    case status(DiscoveryStatus)
}
