import Synchronization

/// What a connection has carried: frames and their bytes, headers included, TLS and TCP not.
package struct Traffic: Hashable, Sendable {
    package internal(set) var bytesSent: UInt64 = 0
    package internal(set) var bytesReceived: UInt64 = 0
    package internal(set) var framesReceived: UInt64 = 0
}

/// Counts on the event loop, read anywhere.
final class TrafficCounter: Sendable {
    private let bytesSent = Atomic<UInt64>(0)
    private let bytesReceived = Atomic<UInt64>(0)
    private let framesReceived = Atomic<UInt64>(0)

    var traffic: Traffic {
        Traffic(
            bytesSent: bytesSent.load(ordering: .relaxed), bytesReceived: bytesReceived.load(ordering: .relaxed),
            framesReceived: framesReceived.load(ordering: .relaxed))
    }

    func sent(bytes: Int) {
        bytesSent.wrappingAdd(UInt64(bytes), ordering: .relaxed)
    }

    func received(bytes: Int) {
        bytesReceived.wrappingAdd(UInt64(bytes), ordering: .relaxed)
    }

    func receivedFrame() {
        framesReceived.wrappingAdd(1, ordering: .relaxed)
    }
}
