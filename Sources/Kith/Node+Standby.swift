import Foundation
import GRDB

extension Node {
    /// How often a node that stands by looks whether it can run.
    static let standbyMilliseconds = 250

    /// Runs whenever it can, until the task is cancelled: stands by while another process runs the node of the same file, whose status
    /// it shows then, and tries again what failed.
    public func runWhenever() async {
        while !Task.isCancelled {
            do {
                try await run()
            } catch let error as StoreError where error.code == .busy {
                board.standsBy(statusElsewhere)
            } catch {
                guard !Task.isCancelled else { break }
                board.cannotRun("\(error)")
                try? await Task.sleep(for: .milliseconds(StatusBoard.retryMilliseconds))
                continue
            }
            try? await Task.sleep(for: .milliseconds(Self.standbyMilliseconds))
        }
        board.rests()
    }

    private var statusElsewhere: NodeStatus? { StatusFile(forStore: URL(fileURLWithPath: store.database.path)).read() }
}
