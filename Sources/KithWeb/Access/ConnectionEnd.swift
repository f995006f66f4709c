import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Ends connections that would stay: of whoever goes on sending after a refusal, and of whoever does not read what it asked for.
///
/// It is called by its connection's event loop alone.
final class ConnectionEnd: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: RequestLimits
    private var isLast = false
    private var unread: Scheduled<Void>?

    init(_ limits: RequestLimits) { self.limits = limits }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): isLast = head.headerFields[.connection] == "close"
        // Not at once: who is still sending would not see the answer.
        case .end where isLast: _ = end(context.channel, in: limits.lingerMilliseconds)
        default: break
        }
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        unread?.cancel()
        unread = context.channel.isWritable ? nil : end(context.channel, in: limits.unreadMilliseconds)
        context.fireChannelWritabilityChanged()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        unread?.cancel()
        unread = nil
    }

    private func end(_ channel: any Channel, in milliseconds: Int64) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: .milliseconds(milliseconds)) { channel.close(promise: nil) }
    }
}
