import NIOCore
import Synchronization

/// Lets connections into the server, until the page is about to end.
///
/// Hummingbird hands a connection on to the task that answers it, and one that is under way there when that task is cancelled ends the
/// process: NIO stops at an asynchronous channel that nobody has taken. So nobody is let in any more some time before that.
final class Entry: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private let isShut = Atomic(false)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isShut.load(ordering: .acquiring) { return unwrapInboundIn(data).close(promise: nil) }
        context.fireChannelRead(data)
    }

    /// Lets in nobody from now on, and waits until those who were are answered by some task.
    func shut() async {
        isShut.store(true, ordering: .releasing)
        try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
    }

    /// A connection takes some microseconds from its acceptance to its task.
    private static let pauseMilliseconds: Int64 = 150
}
