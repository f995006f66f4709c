import Foundation

/// Does what waits for the disk on threads of its own, a few things at a time, so that nobody else waits with it.
enum DiskWork {
    private static let threadsMax = 4
    private static let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = threadsMax
        queue.qualityOfService = .userInitiated
        return queue
    }()

    static func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.addOperation { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
