import NIOCore
import NIOHTTPTypes
import Synchronization

/// How many connections each machine of the network has, so that one of them does not take all places.
final class AddressPlaces: Sendable {
    /// Connections of one address at once.
    let limit: Int
    private let counts = Mutex<[String: Int]>([:])

    init(limit: Int) { self.limit = limit }

    /// Whether there is a place for one more.
    fileprivate func enter(_ address: String) -> Bool {
        counts.withLock { counts in
            if counts[address, default: 0] >= limit { return false }
            counts[address, default: 0] += 1
            return true
        }
    }

    fileprivate func leave(_ address: String) {
        counts.withLock { counts in
            let left = counts[address, default: 0] - 1
            counts[address] = left > 0 ? left : nil
        }
    }
}

/// Ends a connection for which its machine has no place left. This machine has all that there are.
///
/// It is called by its connection's event loop alone.
final class AddressPlace: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart

    private let places: AddressPlaces
    private var taken: String?

    init(_ places: AddressPlaces) { self.places = places }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { take(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        take(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    private func take(_ context: ChannelHandlerContext) {
        guard taken == nil, let address = context.channel.remoteAddress?.ipAddress, !["127.0.0.1", "::1"].contains(address) else { return }
        if places.enter(address) { taken = address } else { context.close(promise: nil) }
    }

    private func leave() {
        taken.map(places.leave)
        taken = nil
    }
}
