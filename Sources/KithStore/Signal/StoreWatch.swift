import Dispatch
import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithTexts

/// Notices the commits of other processes in one database file.
///
/// Sound because everything mutable is touched on `queue` only.
final class StoreWatch: @unchecked Sendable {
    /// When the file is read after it was touched, in milliseconds, each after the one before: a commit becomes readable
    /// only after its bytes were written and perhaps synced.
    private static let checkDelaysMilliseconds = [2, 8, 20]
    /// How often the file is read although nothing seemed to touch it.
    private static let pollMilliseconds = 1_000

    private let queue = DispatchQueue(label: "kith.store.watch", qos: .utility)
    private var files: FileWatch?
    private var timer: (any DispatchSourceTimer)?
    /// `nil` once the watch has stopped.
    private var check: (@Sendable () -> Void)?

    /// - Parameter check: called on a queue of its own when somebody may have committed.
    init(_ file: DatabaseFile, check: @escaping @Sendable () -> Void) {
        self.check = check
        // A file may be touched before it is all set up.
        queue.sync { begin(file) }
    }

    private func begin(_ file: DatabaseFile) {
        files = FileWatch(paths: [file.path, file.path + "-wal"], queue: queue) { [weak self] in self?.filesDidChange() }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let interval = DispatchTimeInterval.milliseconds(Self.pollMilliseconds)
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(Self.pollMilliseconds / 5))
        timer.setEventHandler { [weak self] in self?.check?() }
        timer.resume()
        self.timer = timer
    }

    /// Lets go of the file. Waits for a check that is under way; none comes after.
    func stop() {
        queue.sync {
            timer?.cancel()
            timer = nil
            files?.stop()
            files = nil
            check = nil
        }
    }

    private func filesDidChange() {
        files?.pause()
        scheduleCheck(0)
    }

    private func scheduleCheck(_ index: Int) {
        guard check != nil, index < Self.checkDelaysMilliseconds.count else {
            files?.resume()
            // For what was written since the last look.
            check?()
            return
        }
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.checkDelaysMilliseconds[index])) { [weak self] in
            self?.check?()
            self?.scheduleCheck(index + 1)
        }
    }
}
