import Foundation
import KithStore
import Logging
import Synchronization

/// Where a running node leaves its status, so that another process can show it.
package struct StatusFile: Sendable {
    /// How long after a change the file is written.
    static let pauseMilliseconds = 200

    /// How often a node says that it lives.
    static let beatMilliseconds: Int64 = 5_000
    /// After how long without a word from it a node is said not to respond.
    package static let silenceMilliseconds: Int64 = 20_000

    /// Where the file is.
    package let url: URL
    var retryMilliseconds = StatusBoard.retryMilliseconds
    private let beat = Beat()

    /// Whether what stands in the file is what the node would say.
    private final class Beat: Sendable {
        let isOutOfDate = Mutex(false)
    }

    /// The status of the node that works on the store in this database file.
    package init(forStore database: URL) {
        url = SyncedDatabase.file(at: database, ending: "-status.json")
    }

    /// The status last written; `nil` if there is none, or none that this version understands. Of a node that has not moved for
    /// ``silenceMilliseconds`` it says so, and nothing that may not be true any more.
    package func read() -> NodeStatus? {
        guard let data = try? Data(contentsOf: url), var status = try? JSONDecoder().decode(NodeStatus.self, from: data) else {
            return nil
        }
        let written = (try? FileManager.default.attributesOfItem(atPath: url.path))?[.modificationDate] as? Date
        if let written, case let silence = Int64(Date().timeIntervalSince(written) * 1_000), silence > Self.silenceMilliseconds {
            status.freeze(afterMilliseconds: silence)
        }
        return status
    }

    /// Replaces the file in one step. Where the disk has no room for another one, it is written into the room that this one has.
    func write(_ status: NodeStatus) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let data = try encoder.encode(status)
        do {
            try PrivateText.write(data, to: url)
        } catch {
            // A full disk is what a status is most needed for.
            guard PrivateText.overwrite(url, with: data) else { throw error }
        }
        touch()
    }

    /// Says by the time of the file that the node lives, until the task is cancelled; not of a file that cannot be brought up to date.
    func keepFresh() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(Self.beatMilliseconds))
            beat.isOutOfDate.withLock { isOutOfDate in if !isOutOfDate { touch() } }
        }
    }

    /// By this process's own idea of the time, as whoever reads it has one.
    private func touch() {
        try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: url.path)
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
                    beat.isOutOfDate.withLock { $0 = false }
                    (written, isFailing) = (status, false)
                    break
                } catch {
                    // Without the file the node works all the same; only `kith status` elsewhere does not see it.
                    if !isFailing {
                        logger.warning("the status cannot be written", metadata: ["file": "\(url.path)", "reason": "\(error)"])
                    }
                    isFailing = true
                    beat.isOutOfDate.withLock { $0 = true }
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

extension NodeStatus {
    /// The node has said nothing for this long.
    fileprivate mutating func freeze(afterMilliseconds silence: Int64) {
        state = .stalled
        let silent = Reason.silent(milliseconds: silence)
        (reason, sentence, remedy) = (silent, silent.sentence, silent.remedy)
        for index in peers.indices {
            peers[index].state = .notReachable
            peers[index].isInSync = false
        }
    }
}
