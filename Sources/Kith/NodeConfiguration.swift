import KithSync

/// How a node meets the network.
public struct NodeConfiguration: Hashable, Sendable {
    /// The port that is taken when none is asked for, if it is free.
    public static let preferredPort = 4747

    /// The app that the node synchronises for: devices of another one are neither seen nor let in.
    public var app: AppID
    /// The port to listen on: `nil` for ``preferredPort`` or else any that is free, 0 for any that is free.
    public var port: Int?
    /// Whether to announce this node and look for others by mDNS. Peers with an address are reached without it.
    public var usesDiscovery = true
    /// Whether the node meets the nodes of this process alone, and those without a network, a port or mDNS: for tests and previews.
    public var isInProcess = false
    /// Name and version of the software, shown to the people at the other devices.
    public var software = "kith/0.1.0"

    public init(app: AppID) {
        self.app = app
    }
}

/// Why a node cannot run.
public struct NodeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is; stable, for programs.
    public enum Code: String, Hashable, Sendable {
        /// The port that was asked for is taken, or may not be used.
        case portUnavailable
        /// This device's key cannot be used.
        case invalidIdentity
        /// `run()` was called while the node runs.
        case alreadyRunning
    }

    /// Stable, for programs.
    public let code: Code
    /// What happened, what it means, and what to do.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
