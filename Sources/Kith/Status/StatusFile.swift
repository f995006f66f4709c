import Foundation
import Logging

/// Where a running node leaves its status, so that another process can show it.
public struct StatusFile: Sendable {
    /// How long after a change the file is written.
    static let pauseMilliseconds = 200

    public let url: URL
    var retryMilliseconds = StatusBoard.retryMilliseconds

    /// The status of the node that works on the store in this database file.
    public init(forStore database: URL) {
        url = database.deletingLastPathComponent().appending(path: database.lastPathComponent + "-status.json")
    }

    /// The status last written; `nil` if there is none, or none that this version understands.
    public func read() -> NodeStatus? {
        guard let data = try? Data(contentsOf: url) else { return nil }
        return try? JSONDecoder().decode(NodeStatus.self, from: data)
    }

    /// Replaces the file in one step.
    func write(_ status: NodeStatus) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(status).write(to: url, options: .atomic)
    }

    /// Writes every change of the status, the newest of several that come at once, and removes the file at the end.
    ///
    /// Not at once: a change comes with a commit under way, which need not wait for the processor because of this.
    func follow(_ board: StatusBoard, logger: Logger) async {
        var written: NodeStatus?
        var isFailing = false
        for await _ in board.statuses {
            if written != nil { try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds)) }
            while !Task.isCancelled {
                let status = board.current
                if status == written { break }
                do {
                    try write(status)
                    (written, isFailing) = (status, false)
                    break
                } catch {
                    // Without the file the node works all the same; only `kith status` elsewhere does not see it.
                    if !isFailing {
                        logger.warning("the status cannot be written", metadata: ["file": "\(url.path)", "reason": "\(error)"])
                    }
                    isFailing = true
                    try? await Task.sleep(for: .milliseconds(retryMilliseconds))
                }
            }
        }
        remove()
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
