import KithSync
import KithTrust

/// How a device looks for the one that it is to be paired with.
public struct PairingConfiguration: Sendable {
    /// How the right two devices make sure of each other.
    public enum Method: Sendable {
        /// People compare six digits. Both devices announce themselves and dial.
        case numbers
        /// This device made the token and waits for the one that is told.
        case showToken(PairingToken)
        /// This device was told the token and dials the one that made it.
        case enterToken(PairingToken)
    }

    /// The port for pairing that is taken when none is asked for, if it is free.
    public static let preferredPort = 4748
    /// How long a window for numbers is open, in milliseconds.
    public static let windowMilliseconds: Int64 = 120_000
    /// How long a token is good for, in milliseconds.
    public static let tokenMilliseconds: Int64 = 600_000

    /// How it makes sure of the other device.
    public var method: Method
    /// The app that is paired: windows of another one are not seen, and its devices are refused.
    public var app: AppID
    /// What this device calls itself. Only the household is told.
    public var name: String
    /// Where the other device waits; `nil` to look for it by mDNS alone.
    public var address: PeerAddress?
    /// The port to wait on: `nil` for ``preferredPort`` or else any that is free, 0 for any that is free.
    public var port: Int?
    /// Whether to announce the window and look for others by mDNS.
    public var usesDiscovery = true
    /// The port on which this device's node listens.
    public var nodePort = NodeConfiguration.preferredPort
    /// Whether this device leaves its household for that of the other one, if both are in one.
    public var joinsOther = false
    /// How long others may try.
    public var windowMilliseconds: Int64

    public init(_ method: Method = .numbers, app: AppID, name: String, address: PeerAddress? = nil) {
        self.method = method
        self.app = app
        self.name = name
        self.address = address
        if case .numbers = method { windowMilliseconds = Self.windowMilliseconds } else { windowMilliseconds = Self.tokenMilliseconds }
    }
}

extension PairingConfiguration.Method {
    var isDialling: Bool { if case .showToken = self { false } else { true } }
    var isListening: Bool { if case .enterToken = self { false } else { true } }

    /// The method in the protocol.
    var method: PairingMethod {
        switch self {
        case .numbers: .numbers
        case .showToken(let token), .enterToken(let token): .token(token.bytes)
        }
    }

    /// The value of the attribute under which a waiting device announces itself.
    var attribute: [UInt8] {
        if case .numbers = self { Array("numbers".utf8) } else { Array("token".utf8) }
    }
}

extension PairingConfiguration {
    /// Tells the other device where the node of this one listens, or will.
    package mutating func takePort(of node: NodeStatus?) {
        if let port = node?.port ?? node?.futurePort { nodePort = port }
    }
}
