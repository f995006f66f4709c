import KithTrust

/// Why a connection could not be made or came to an end.
package struct TransportError: Error, Hashable, Sendable {
    /// The stable name of the failure, for programs.
    package enum Code: String, Hashable, Sendable {
        // The peer is not who it should be.
        /// The peer's certificate is malformed, out of its validity, or not alone.
        case refusedCertificate
        /// The peer is a device that this one does not trust.
        case untrustedPeer
        /// The peer is not the device that was dialled.
        case unexpectedPeer
        /// The peer is this device itself.
        case ownDevice
        /// The peer does not trust this device.
        case refusedByPeer
        /// The peer speaks no protocol that was offered.
        case wrongProtocol
        /// The TLS handshake failed in another way.
        case handshakeFailed

        // The network failed.
        /// No address belongs to the host's name.
        case unknownHost
        /// Nothing answers at the address.
        case unreachable
        /// The deadline passed before the peer was authenticated.
        case timedOut
        /// The connection broke without an orderly end.
        case connectionLost
        /// The port to listen on is taken.
        case portInUse
        /// The address to listen on cannot be used.
        case cannotListen

        // A limit was reached.
        /// A frame is longer than allowed.
        case frameTooLarge
        /// A frame has no content.
        case emptyFrame
        /// The connection ended inside a frame.
        case truncatedFrame
        /// The peer takes nothing of what is sent.
        case stalled
        /// The peer is silent.
        case idle
        /// The peer sends a frame more slowly than the minimum.
        case tooSlow

        // This side ended it.
        /// The connection or the transport was closed on this side.
        case closed
        /// The task that waited was cancelled.
        case cancelled
        /// Two tasks read frames at once.
        case concurrentReaders
        /// The key or certificate cannot be used for TLS.
        case invalidIdentity
    }

    package let code: Code
    /// What happened, what it means and what to do, for people.
    package let message: String
    /// The device on the other side, where the handshake told.
    package let peer: DeviceID?

    init(_ code: Code, _ message: String, peer: DeviceID? = nil) {
        self.code = code
        self.message = message
        self.peer = peer
    }
}

extension TransportError: CustomStringConvertible {
    package var description: String { message }
}
