import CDNSSD
import Dispatch

/// A running operation of the mDNS daemon: one `DNSServiceRef` and the socket its answers come through.
///
/// To be used on one serial queue alone. Answers are collected while dns_sd calls back and handed out when it has returned, so that no
/// dns_sd function is ever called from within another.
final class ServiceOperation {
    /// What dns_sd holds on to: it outlives the reference by being released only after that is deallocated.
    final class Context {
        let request: ServiceRequest
        var replies: [ServiceReply] = []

        init(request: ServiceRequest) { self.request = request }
    }

    private let reference: DNSServiceRef
    private let source: any DispatchSourceRead
    private let context: Context

    /// - Parameter onReadable: called on `queue` whenever `receive` has something to receive.
    /// - Throws: when the daemon refuses or is not there.
    init(_ request: ServiceRequest, queue: DispatchQueue, onReadable: @escaping @Sendable () -> Void) throws(DaemonFailure) {
        _ = Self.dnssdIsReady
        let context = Context(request: request)
        let retained = Unmanaged.passRetained(context)
        var reference: DNSServiceRef?
        let code = request.start(&reference, context: retained.toOpaque())
        let socket = reference.map { DNSServiceRefSockFD($0) } ?? -1
        guard code == kDNSServiceErr_NoError, let reference, socket >= 0 else {
            if let reference { DNSServiceRefDeallocate(reference) }
            retained.release()
            throw DaemonFailure(code: code == kDNSServiceErr_NoError ? Int32(kDNSServiceErr_Unknown) : code)
        }
        self.reference = reference
        self.context = context
        source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
        source.setEventHandler(handler: onReadable)
        // The socket belongs to the reference and must stay open until the source has let go of it.
        let ending = Ending(reference: reference, context: retained)
        source.setCancelHandler { ending.run() }
        source.resume()
    }

    /// Reads what has come through the socket.
    func receive() -> [ServiceReply] {
        let code = DNSServiceProcessResult(reference)
        if code != kDNSServiceErr_NoError { context.replies.append(.failed(code: code)) }
        return drain()
    }

    /// Answers collected so far; some come with the call that starts the operation.
    func drain() -> [ServiceReply] {
        defer { context.replies = [] }
        return context.replies
    }

    /// Replaces the attributes of a registration.
    func update(_ attributes: TXTRecord) throws(DaemonFailure) {
        let wire = attributes.wire
        let code = DNSServiceUpdateRecord(reference, nil, 0, UInt16(clamping: wire.count), wire, 0)
        guard code == kDNSServiceErr_NoError else { throw DaemonFailure(code: code) }
    }

    /// Ends the operation; nothing is received after it.
    func cancel() { source.cancel() }

    private static let dnssdIsReady: Void = kith_dnssd_prepare()
}

/// An operation could not be started or changed. `code` is a `DNSServiceErrorType`.
struct DaemonFailure: Error, Hashable {
    let code: Int32
}

/// Gives back what an operation holds. Both members are used by nobody else once the source is cancelled, and `run` is called once, on
/// the operation's queue, which is what makes it sendable.
private struct Ending: @unchecked Sendable {
    let reference: DNSServiceRef
    let context: Unmanaged<ServiceOperation.Context>

    func run() {
        DNSServiceRefDeallocate(reference)
        context.release()
    }
}
