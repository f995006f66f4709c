import Foundation
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithTexts

extension SyncedDatabase {
    /// How a store reads the world.
    public struct Options: Sendable {
        /// Reads the wall clock.
        package var clock: @Sendable () -> HybridTimestamp
        /// Makes the id of a new replica.
        package var makeReplicaID: @Sendable () -> ReplicaID
        /// The machine, by which a store that was moved is told.
        package var host: HostIdentity
        /// Bytes up to which an attachment is fetched unasked; 0 for none. Larger ones come when ``SyncedDatabase/fetchAttachment(_:)`` asks.
        public var attachmentBytesFetched: Int64 = 256 << 20
        /// Bytes of attachments that are kept unasked of all that one other device has named in rows; `.max` for no limit. What is beyond
        /// comes when ``SyncedDatabase/fetchAttachment(_:)`` asks, or when there is room again.
        public var attachmentBytesFetchedOfDevice: Int64 = 16 << 30
        /// Whether a new and empty store may take the place of one that was there and is gone, to be refilled by the other devices.
        /// Without it opening fails with code `lost`, so that a person can look for a backup first.
        public var refillsLostStore = false
        /// Under which name this process stands in the journal of the store.
        public var processName = ProcessInfo.processInfo.processName
        /// Of which file the database is a copy in memory, made with ``SyncedDatabase/copyInMemory(ofDatabaseAt:configuration:)``: attachments
        /// are read beside that file, and every write is refused with code `readOnly`.
        public var copy: Copy?
        /// Where the bytes of attachments of a database in memory are kept: a folder that is made when the first one comes. Without it such
        /// a database keeps none; one in a file keeps them beside that.
        public var attachmentsFolder: String?
        /// Reads the public key of the device that the store is on, a compressed point, when the store takes an id, which names it; `nil`
        /// for the one that it noted last.
        package var deviceKey: @Sendable () -> [UInt8]? = { nil }
        /// What of a text is kept ahead of its row. A test makes it little.
        package var earlyChanges = EarlyChanges.Limits()
        /// How much of a text one transaction takes. A test makes it little.
        package var textBudget = TextBudget()
        /// Writes to files of attachments. A test lets it fail.
        package var writeFile: FileWriting = systemWrite
        /// Bytes that may still be written into a folder; `nil` where that is not known. A test lets there be few.
        package var freeBytes: @Sendable (_ folder: String) -> Int64? = systemFreeBytes
        /// Brings the log of a database to the disk. A test lets the disk forget.
        package var synchronizeLog: @Sendable (_ path: String) throws -> Void = { try SmallFile.synchronize(path: $0) }
        /// Milliseconds by a clock that nobody sets: how long a merge has held the database. A simulation has its own.
        package var monotonicMilliseconds: @Sendable () -> Int64 = systemMonotonicClock
        /// Whether commits of other processes are looked out for, on a thread of its own, which a simulation must not have.
        package var watchesFile = true

        /// A file of which a copy in memory is opened.
        public struct Copy: Hashable, Sendable {
            /// The path of the file that was copied.
            public var path: String
            /// Why it is a copy, for people: part of the message with which writes are refused.
            public var reason: String

            public init(of path: String, because reason: String) {
                self.path = path
                self.reason = reason
            }
        }

        public init() {
            self.init(clock: Self.systemClock)
        }

        package init(
            clock: @escaping @Sendable () -> HybridTimestamp = Options.systemClock,
            makeReplicaID: @escaping @Sendable () -> ReplicaID = Options.randomReplicaID, host: HostIdentity = .current
        ) {
            self.clock = clock
            self.makeReplicaID = makeReplicaID
            self.host = host
        }

        /// The system's wall clock.
        package static let systemClock: @Sendable () -> HybridTimestamp = {
            HybridTimestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        }

        static let systemMonotonicClock: @Sendable () -> Int64 = {
            let elapsed = clockStart.duration(to: .now).components
            return elapsed.seconds * 1_000 + elapsed.attoseconds / 1_000_000_000_000_000
        }

        private static let clockStart = ContinuousClock.now

        /// Draws the id of a new replica from the system's random numbers: one that names no device.
        package static let randomReplicaID: @Sendable () -> ReplicaID = {
            var generator = SystemRandomNumberGenerator()
            let id = ReplicaID.random(using: &generator)
            return ReplicaID(high: id.high & ~(1 << 63), low: id.low)
        }
    }
}
