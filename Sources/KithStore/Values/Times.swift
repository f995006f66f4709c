import Foundation
import KithCausality
import KithLedger
import KithMerge
import KithSync

// Ids and times as an app has them, beside the numbers that the store keeps.

extension Date {
    /// - Parameter storeMilliseconds: since 1970.
    init(storeMilliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(storeMilliseconds) / 1_000)
    }
}

extension HybridTimestamp {
    /// The time without its counter: the wall clock of the device that wrote, moved past everything that it had seen.
    public var date: Date { Date(storeMilliseconds: milliseconds) }
}

extension Stamp {
    /// When it was written; see ``HybridTimestamp/date``.
    public var time: Date { timestamp.date }
}

extension TrashedRow {
    /// When this store learned of the deletion, by its own clock.
    public var deleted: Date { Date(storeMilliseconds: deletedMilliseconds) }
}

extension RefusedRow {
    /// Since when it is refused, by this store's own clock.
    public var since: Date { Date(storeMilliseconds: sinceMilliseconds) }
}

extension SupersededValue {
    /// When this store learned that it is gone, by its own clock.
    public var gone: Date { Date(storeMilliseconds: goneMilliseconds) }
}

extension MassDeletion {
    /// When the first of the rows went, by this store's clock, to the hour.
    public var since: Date { Date(storeMilliseconds: sinceMilliseconds) }
}

extension SyncedDatabase {
    /// How long deleted rows can be restored.
    public static let trashTime = Duration.milliseconds(trashMilliseconds)
}
