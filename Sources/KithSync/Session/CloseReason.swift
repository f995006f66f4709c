/// Why a session ends, as a stable code. The numbers stand on the wire and never change.
package enum CloseCode: UInt8, Hashable, Sendable, CaseIterable {
    /// A reason this build does not know.
    case unspecified = 0
    /// The node stops, or the user paused it.
    case shutdown = 1
    /// The peer broke a rule of the protocol.
    case protocolError = 2
    /// The two understand no common version of the protocol.
    case unsupportedVersion = 3
    /// The two belong to different groups.
    case wrongGroup = 4
    /// Nothing was heard for too long.
    case timeout = 5
    /// The store could not be read or written: disk full, locked, damaged.
    case storeFailed = 6
    /// The store took a new replica id. Connecting again at once is right.
    case identityChanged = 7
    /// Another connection to the same peer is kept instead.
    case replaced = 8
    /// The peer is no longer trusted.
    case notTrusted = 9
    /// Something is larger than the protocol can carry.
    case tooLarge = 10
    /// The two synchronise different apps.
    case otherApp = 11

    /// When it makes sense to connect again.
    package var retry: RetryAdvice {
        switch self {
        case .identityChanged: .atOnce
        case .unspecified, .timeout, .storeFailed, .shutdown, .protocolError: .later
        case .unsupportedVersion, .wrongGroup, .replaced, .notTrusted, .tooLarge, .otherApp: .afterChange
        }
    }
}

/// When it makes sense to connect again.
package enum RetryAdvice: Hashable, Sendable {
    case atOnce
    /// After a pause that grows.
    case later
    /// Not before something changed: an update, the list of devices, a row.
    case afterChange
}

/// Why a session ended, and who said so.
package struct CloseReason: Error, Hashable, Sendable {
    package let code: CloseCode
    /// What happened, for people. From the peer it is bounded, and free of control characters.
    package let message: String
    /// Whether the peer closed.
    package let isFromPeer: Bool

    package init(_ code: CloseCode, _ message: String, isFromPeer: Bool = false) {
        self.code = code
        self.message = message
        self.isFromPeer = isFromPeer
    }

    /// For people: whose words they are.
    package var sentence: String { isFromPeer ? "It says: \u{201C}\(message)\u{201D}" : message }
}
