import Foundation
import KithStore
import Logging

/// What is kept of the other devices over restarts: when all was last the same, and what went wrong last.
struct PeerMemory: Sendable {
    struct Peer: Codable, Hashable, Sendable {
        var lastSyncMilliseconds: Int64?
        var lastError: String?
        var lastErrorMilliseconds: Int64?
        var address: String?
        var software: String?
    }

    /// How often it is written at most; what a process that is killed knew since then is lost.
    static let pauseMilliseconds = 10_000

    let url: URL

    /// Beside the database in this file.
    init(forStore database: URL) {
        url = SyncedDatabase.file(at: database, ending: "-peers.json")
    }

    /// By device id; empty where nothing is kept, or nothing that this version understands.
    func read() -> [String: Peer] {
        (try? Data(contentsOf: url)).flatMap { try? JSONDecoder().decode([String: Peer].self, from: $0) } ?? [:]
    }

    func write(_ peers: [String: Peer]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try PrivateText.write(encoder.encode(peers), to: url)
    }

    /// Keeps what `board` knows, until the task is cancelled. What is known in the end is for the caller to write.
    func follow(_ board: StatusBoard, logger: Logger) async {
        var written = read()
        var isFailing = false
        func keep() {
            let peers = board.memories
            guard peers != written else { return }
            do {
                try write(peers)
                (written, isFailing) = (peers, false)
            } catch {
                if !isFailing {
                    logger.warning("what is known of the devices cannot be kept", metadata: ["reason": "\(error)"])
                }
                isFailing = true
            }
        }
        for await _ in board.statuses {
            keep()
            try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
        }
    }
}
