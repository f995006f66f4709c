/// Why a pairing came to nothing, and which side found out.
public struct PairingFailure: Error, Hashable, Sendable {
    /// The numbers stand on the wire and never change.
    public enum Code: UInt8, Hashable, Sendable, CaseIterable {
        /// A reason that this build does not know.
        case unspecified = 0
        /// A person said that the numbers are not the same.
        case refused = 1
        /// The two speak no common version.
        case unsupportedVersion = 2
        /// One compares numbers, the other one wants a token.
        case otherMethod = 3
        /// A message came that breaks the protocol.
        case protocolError = 4
        /// The nonce shown is not the one committed to: somebody tried to choose the numbers.
        case commitmentBroken = 5
        /// The token is not the one that was made.
        case wrongToken = 6
        /// Nothing came, or nobody answered, in time.
        case timedOut = 7
        /// A person stopped it, or the time to pair is over.
        case cancelled = 8
        /// The device is pairing with another one.
        case busy = 9
        /// Another connection between the same two goes on.
        case replaced = 10
        /// The list of trusted devices could not be written.
        case storeFailed = 11
        /// The connection broke. Never on the wire.
        case connectionLost = 12
        /// Both are in a household, not in the same one, and neither is to leave it.
        case otherHousehold = 13
        /// The two pair different apps.
        case otherApp = 14
    }

    public let code: Code
    /// Whether the other side said so.
    public let isFromPeer: Bool

    package init(_ code: Code, isFromPeer: Bool = false) {
        self.code = code
        self.isFromPeer = isFromPeer
    }
}

extension PairingFailure: CustomStringConvertible {
    /// What happened, what it means and what to do, for people.
    public var description: String {
        switch code {
        case .unspecified: "The other device ended the pairing. Try again."
        case .refused:
            (isFromPeer ? "At the other device" : "At this device")
                + " the answer was no. If the numbers differed, that was not the right device, or somebody is between the two."
        case .unsupportedVersion: "The other device pairs in another version of the protocol. Update Kith on both."
        case .otherMethod: "One device compares numbers and the other one uses a token. Use the same way on both."
        case .protocolError:
            "\(isFromPeer ? "The other device did not understand this one" : "The other device sent something that is no pairing"). Try again."
        case .commitmentBroken: "The other side changed its secret number while pairing, as only an attacker would. Nothing was trusted."
        case .wrongToken: "The token is not the one that the other device shows. Copy it again, or make a new one."
        case .timedOut: "\(isFromPeer ? "This device" : "The other device") did not answer in time. Try again on both."
        case .cancelled: "\(isFromPeer ? "The other device" : "This device") stopped pairing."
        case .busy: "\(isFromPeer ? "The other device" : "This device") is pairing with another one."
        case .replaced: "Another connection between the two devices goes on."
        case .storeFailed:
            (isFromPeer ? "The other device" : "This device")
                + " could not add anybody to those that it trusts: its disk cannot be written, or it needs a new key, because two different "
                + "things were signed with the one that it has. Examine it."
        case .otherHousehold:
            """
            The two devices are in different households. Decide which one to keep, and let the device that is to leave its own join \
            the other; what it holds comes along, and nothing is lost.
            """
        case .otherApp: "The other device is pairing another app. Pair the same app on both."
        case .connectionLost: "The connection to the other device broke. Try again on both."
        }
    }
}
