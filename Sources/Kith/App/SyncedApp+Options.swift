import Foundation
import GRDB
import Logging

extension SyncedApp {
    /// How an app is opened, beyond its id, its tables and its place. The defaults suit most.
    public struct Options: Sendable {
        /// What this device calls itself where people see it: to the devices that it is paired with.
        public var deviceName = ProcessInfo.processInfo.hostName
        /// How GRDB opens the database. Without a busy mode of its own, a writer waits up to five seconds for another process.
        public var configuration = Configuration()
        /// How the store reads the world.
        public var store = SyncedDatabase.Options()
        /// The port to listen on: `nil` for ``NodeConfiguration/preferredPort`` or else any that is free, 0 for any that is free.
        public var port: Int?
        /// Whether to announce this device and look for others by mDNS.
        public var usesDiscovery = true
        /// Whether only apps of this process are met, without a network: for tests and previews. Always so in memory.
        public var isInProcess = false
        /// Name and version of the app, shown to the people at the other devices; its id without it.
        public var software: String?
        /// What to do if the store cannot be opened otherwise; nothing without it, so that a person can choose.
        public var recovery: Recovery?
        /// Where the node says what it does.
        public var logger = Logger(label: "kith.app")

        public init() {}
    }

    /// What can be done with a store that cannot be opened; ``SyncedAppError/recoveries`` says what would help.
    public enum Recovery: String, Hashable, Sendable {
        /// Open a copy in memory, which can be read: on a full disk, or a read-only one. Writes are refused, and nothing synchronises.
        case readOnlyCopy
        /// Put what is left of the file aside, in the same folder, and let the other devices refill a new one. What was only here does not
        /// come back by that; look for a backup first.
        case refill
    }
}
