import NIOCore
import Synchronization

/// Bytes that a peer received, in whatever task.
final class Collector: Sendable {
    let greeting: [UInt8]
    private let state = Mutex<[UInt8]>([])

    init(greeting: [UInt8] = []) {
        self.greeting = greeting
    }

    var bytes: [UInt8] { state.withLock { $0 } }

    func append(_ buffer: ByteBuffer) {
        state.withLock { $0 += buffer.readableBytesView }
    }
}
