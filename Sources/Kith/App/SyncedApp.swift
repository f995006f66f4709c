import Foundation
import GRDB
import Synchronization

/// An app's database that synchronises with the other devices of a person: opened in one line, started in another.
///
///     let app = try await SyncedApp.open("org.example.pantry", migrator: migrator, tables: [TrackedTable("item")])
///     try await app.database.write { db in try Item(title: "Milk").insert(db) }
///     app.start()
///
/// It chooses folders, makes this device's key, adopts what is in the database already, migrates it, and composes what can be used by
/// itself, too: a ``SyncedDatabase``, a ``TrustStore`` and a ``Node``. While no other device is trusted, nothing leaves this one.
///
/// Several processes may open one app, such as an extension beside it: all read, write and observe, and one at a time synchronises. When
/// that one ends, however it ends, another one that was started takes over within a second.
public final class SyncedApp: Sendable {
    /// The app, the same on all devices.
    public let id: AppID
    /// What this device calls itself.
    public let deviceName: String
    /// The database as the app uses it: with GRDB, or any SQL through it.
    public var database: any DatabaseWriter { store.database }
    /// What synchronises: conflicts, recently deleted rows, texts, attachments.
    public let store: SyncedDatabase
    /// The trusted devices.
    public let trust: TrustStore
    /// What talks to the other devices. ``start()`` and ``stop()`` run it.
    public let node: Node
    /// Where everything is; `nil` in memory.
    public let folders: Folders?
    /// Why nothing can be written, for people, if it was opened with ``Recovery/readOnlyCopy``; `nil` if something can.
    public let readOnlyReason: String?

    private let ownsDatabase: Bool
    private let temporary: TransientFolder?
    private let running = Mutex(Running())

    private struct Running {
        var task: Task<Void, Never>?
        /// Whether `task` runs the node, and was not told to end.
        var isRunning = false
        var isStarted = false
        /// How many meetings need the node just now.
        var meetings = 0
        var isClosed = false
    }

    init(_ opening: AppOpening) {
        id = opening.id
        deviceName = opening.options.deviceName
        store = opening.store
        trust = opening.trust
        node = opening.node
        folders = opening.folders
        readOnlyReason = opening.readOnlyReason
        ownsDatabase = opening.ownsDatabase
        temporary = opening.temporary
    }

    deinit {
        running.withLock(\.task)?.cancel()
    }

    // MARK: Synchronising

    /// Finds the trusted devices and keeps the database in step with them, until ``stop()``. Returns at once.
    ///
    /// As often as the app likes; once it is started, another call does nothing. What fails is tried again, and ``status`` says why. While
    /// another process synchronises the same file, this one stands by, and shows the status of that one.
    public func start() {
        running.withLock { running in
            guard !running.isClosed, readOnlyReason == nil else { return }
            running.isStarted = true
            run(&running)
        }
    }

    /// Ends all connections in order, and returns when nothing of it runs any more. ``start()`` goes on; nothing is lost in between.
    public func stop() async {
        let task = running.withLock { running in
            running.isStarted = false
            return halt(&running)
        }
        task?.cancel()
        await task?.value
    }

    /// Runs the node until ``endMeeting()`` was called as often as this, if it is not started.
    func beginMeeting() {
        running.withLock { running in
            running.meetings += 1
            run(&running)
        }
    }

    func endMeeting() async {
        let task = running.withLock { running -> Task<Void, Never>? in
            running.meetings -= 1
            return running.meetings == 0 && !running.isStarted ? halt(&running) : nil
        }
        task?.cancel()
        await task?.value
    }

    private func run(_ running: inout Running) {
        guard !running.isRunning, !running.isClosed, readOnlyReason == nil else { return }
        running.isRunning = true
        let previous = running.task
        running.task = Task { [node] in
            await previous?.value
            await node.runWhenever()
        }
    }

    /// Returns the task that the caller cancels, under no lock (see ``Broadcast``), and waits for.
    private func halt(_ running: inout Running) -> Task<Void, Never>? {
        running.isRunning = false
        return running.task
    }

    /// Whether ``start()`` was called, and ``stop()`` was not since.
    public var isStarted: Bool { running.withLock(\.isStarted) }

    /// What goes on now and, when nothing is synchronised, why.
    public var status: NodeStatus { node.status }

    /// Whether the node runs, or is about to.
    var isRunning: Bool { running.withLock(\.isRunning) }

    /// The status as it is now, and then every change of it; see ``Node/statuses``.
    public var statuses: AsyncStream<NodeStatus> { node.statuses }

    /// Stops, and closes the database if it was opened by ``SyncedApp``. The object cannot be used afterwards.
    /// - Throws: ``SyncedAppError`` if the database is in use.
    public func close() async throws(SyncedAppError) {
        running.withLock { $0.isClosed = true }
        await stop()
        store.close()
        guard ownsDatabase else { return }
        do {
            try database.close()
        } catch {
            throw SyncedAppError(error)
        }
    }
}

/// A folder that goes with the object.
final class TransientFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "kith-app-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}
