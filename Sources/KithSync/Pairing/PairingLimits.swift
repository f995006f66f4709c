/// The limits of pairing. Each has a test at the limit and one past it.
package enum PairingLimits {
    /// The application protocol (ALPN, RFC 7301) of a pairing connection.
    package static let applicationProtocol = "kith-pair/1"
    /// The version of the protocol, as it stands in the first message and in everything that is hashed.
    static let version: UInt8 = 1
    /// Longest message, in bytes.
    package static let messageBytesMax = 128
    /// Longest name that a device proposes for itself, in UTF-8 bytes.
    package static let nameBytesMax = 64
    /// Length of a device's id, a nonce, a commitment and a proof, in bytes.
    package static let hashBytes = 32
    /// Length of a token, in bytes.
    static let tokenBytes = 16
}

/// When a pairing gives up.
struct PairingTiming: Hashable, Sendable {
    /// From the connection to the numbers on the screen.
    var exchangeMilliseconds: Int64 = 10_000
    /// How long the two people may take to compare and answer.
    var decisionMilliseconds: Int64 = 120_000
    /// From both answers to the other side's word that it is done.
    var finishMilliseconds: Int64 = 10_000

    init() {}
}
