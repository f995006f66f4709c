import Foundation

/// Where a running node leaves its status, so that another process can show it.
public struct StatusFile: Sendable {
    public let url: URL

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

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
