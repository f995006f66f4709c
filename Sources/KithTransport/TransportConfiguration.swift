import Foundation

/// The limits of a transport. Every one has a test at the limit and one past it.
package struct TransportConfiguration: Sendable {
    /// The application protocol (ALPN, RFC 7301) that both sides must name.
    package var applicationProtocol = "kith/1"

    // MARK: Frames

    /// Longest frame before the layer above calls `Connection.raiseFrameLimit(to:)`, in bytes.
    package var initialFrameBytesMax = 4 * 1024
    /// Longest frame ever, sent or received, in bytes.
    package var frameBytesMax = 16 * 1024 * 1024
    /// Bytes of unread frames at which nothing more is read from the network.
    package var inboundHighWaterBytes = 1024 * 1024
    /// Bytes of unread frames at which reading goes on.
    var inboundLowWaterBytes = 256 * 1024
    /// Bytes of unsent frames at which `send` waits.
    package var outboundHighWaterBytes = 1024 * 1024
    /// Bytes of unsent frames at which waiting `send`s go on.
    var outboundLowWaterBytes = 256 * 1024
    /// Bytes of unsent frames at which `post` refuses the next one, since the peer reads too little.
    var outboundBytesMax = 256 * 1024 * 1024
    /// What all connections with this configuration, or a copy of it, may keep unsent together: 256 MiB. The one that keeps most ends first.
    var outboundRoom = OutboundRoom(bytesMax: 256 * 1024 * 1024)

    // MARK: Time

    /// From the arrival of a connection to the end of its TLS handshake.
    var handshakeTimeoutMilliseconds = 10_000
    /// How long the peer may take nothing of what is to be sent.
    var stallTimeoutMilliseconds = 30_000
    /// How long the peer may be silent. Keep-alives of the layer above must come more often.
    var idleTimeoutMilliseconds = 300_000
    /// How long to wait for the peer's own goodbye in an orderly close.
    var closeTimeoutMilliseconds = 5_000
    /// A frame that has begun must bring `minimumBytes` in every window of this length.
    var minimumWindowMilliseconds = 30_000
    /// See `minimumWindowMilliseconds`: 30 KiB in 30 seconds.
    var minimumBytes = 30 * 1024

    // MARK: Connections

    /// Accepted connections whose handshake is not finished.
    var unauthenticatedMax = 32
    /// Those of them from one address.
    package var unauthenticatedPerAddressMax = 4
    /// Those of them from one network of IPv6, the first 64 bits of an address: whoever is there may have any number of addresses.
    package var unauthenticatedPerNetworkMax = 16
    /// Besides these, those from addresses at which somebody was let in before.
    package var unauthenticatedKnownMax = 16
    /// Addresses that are remembered for that.
    package var knownAddressesMax = 64
    /// Accepted connections of one device.
    var connectionsPerPeerMax = 8
    /// Connections of one device that are accepted at once after a pause.
    var connectionsPerPeerBurst = 32
    /// How many milliseconds it has to let pass for each further one: a session that begins costs both sides work.
    var connectionsPerPeerPauseMilliseconds: Int64 = 250
    /// Accepted connections that wait to be taken from `Transport.incoming`.
    var incomingMax = 64

    /// The wall clock, for the validity of certificates.
    package var now: @Sendable () -> Date = { Date() }

    package init() {}
}
