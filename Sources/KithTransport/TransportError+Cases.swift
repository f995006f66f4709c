import Foundation
import KithTrust
import NIOCore
import NIOSSL

/// The messages that several places share.
extension TransportError {
    static func frameTooLarge(length: Int, limit: Int) -> TransportError {
        TransportError(.frameTooLarge, "A frame of \(length) bytes is more than the \(limit) allowed here; the connection is closed.")
    }

    static let emptyFrame = TransportError(.emptyFrame, "A frame without content says nothing and is not allowed.")

    static let truncatedFrame = TransportError(
        .truncatedFrame, "The connection ended inside a frame; that frame is lost and will be sent again after reconnecting.")

    static func closed(_ reason: String) -> TransportError {
        TransportError(.closed, "The connection was closed here: \(reason).")
    }

    static func connectionLost(_ what: String) -> TransportError {
        TransportError(.connectionLost, "The connection broke (\(what)). It is tried again.")
    }

    static let closedByPeer = TransportError(.connectionLost, "The other device closed the connection. It is tried again.")

    static let refusedByPeer = TransportError(
        .refusedByPeer,
        "The other device does not trust this one. Add this device's id there, or pair the two devices again.")

    /// For an error of the channel of an established connection.
    init(duringConnection error: any Error) {
        switch error {
        case let error as TransportError: self = error
        case BoringSSLError.sslError(let stack) where Self.isRefusal("\(stack)"): self = .refusedByPeer
        case NIOSSLError.uncleanShutdown: self = .connectionLost("no goodbye")
        case let error as IOError: self = .connectionLost(String(cString: strerror(error.errnoCode)))
        default: self = .connectionLost("\(error)")
        }
    }

    static let wrongProtocol = TransportError(
        .wrongProtocol, "The other side speaks another protocol or version. Update Kith on both devices.")

    static let resumedSession = TransportError(
        .handshakeFailed, "The other side tried to resume an earlier TLS session, which is not allowed.")

    static let handshakeEnded = TransportError(
        .handshakeFailed, "The other side closed the connection during the handshake. It may not trust this device, or not be Kith.")

    static func timedOut(_ what: String) -> TransportError {
        TransportError(.timedOut, "\(what). The other side may not be Kith, or the network is slow; it is tried again.")
    }

    /// For an error of a channel whose handshake is not finished.
    init(duringHandshake error: any Error) {
        switch error {
        case let error as TransportError: self = error
        case NIOSSLError.handshakeFailed(let error): self = .handshakeFailed(error)
        case let error as BoringSSLError: self = .handshakeFailed(error)
        case NIOSSLError.uncleanShutdown: self = .handshakeEnded
        case let error as IOError: self = .connectionLost(String(cString: strerror(error.errnoCode)))
        default: self = TransportError(.handshakeFailed, "The handshake failed: \(error)")
        }
    }

    private static func handshakeFailed(_ error: BoringSSLError) -> TransportError {
        let detail = "\(error)"
        if detail.contains("NO_APPLICATION_PROTOCOL") { return .wrongProtocol }
        if isRefusal(detail) { return .refusedByPeer }
        if detail.contains("eofDuringHandshake") || detail.contains("EOF during handshake") { return .handshakeEnded }
        return TransportError(.handshakeFailed, "The TLS handshake failed: \(detail). The other side may not be Kith.")
    }

    /// Whether an error of the TLS library is the peer's alert that it does not accept this side's certificate; it tells
    /// so only in its text.
    private static func isRefusal(_ detail: String) -> Bool {
        detail.contains("ALERT") && detail.contains("CERTIFICATE")
    }

    /// For a limit in time that the peer broke.
    static func broken(_ code: Code, _ configuration: TransportConfiguration) -> TransportError {
        let message =
            switch code {
            case .stalled:
                "The other device took nothing for \(configuration.stallTimeoutMilliseconds) ms; the connection is closed and tried again."
            case .idle:
                "The other device was silent for \(configuration.idleTimeoutMilliseconds) ms; the connection is closed and tried again."
            default:
                "The other device sent less than \(configuration.minimumBytes) bytes of a frame in \(configuration.minimumWindowMilliseconds) ms; the connection is closed."
            }
        return TransportError(code, message)
    }
}
