import Dispatch

/// Does what waits for the disk on threads of its own, so that nobody else waits with it. The system bounds their number.
enum DiskWork {
    private static let queue = DispatchQueue(label: "kith.page.disk", qos: .userInitiated, attributes: .concurrent)

    static func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
