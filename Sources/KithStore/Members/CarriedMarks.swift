import KithCausality
import KithLedger
import KithSync

/// Which files this device has made for others, so that the store can tell later whether it still has all that they hold.
///
/// The store notes a mark of each file, once all that the file holds is in the store. One that was set back to before that has lost the
/// mark as well, whatever it has written since under the same numbers.
extension SyncedDatabase {
    private static let carriedMarks = "carried"
    static let carriedMarkBytes = 32
    /// Of more, the oldest are forgotten.
    static let carriedMarksMax = 64

    /// Notes that a file with this mark holds what is here, or less.
    package func noteCarried(_ mark: [UInt8]) throws {
        guard mark.count == Self.carriedMarkBytes else { return }
        try write { _, state in
            let records = VectorRecords(connection: state.ledger.connection)
            let marks = (try Self.marks(records) + mark).suffix(Self.carriedMarksMax * Self.carriedMarkBytes)
            try records.setMeta(Self.carriedMarks, .blob(Array(marks)))
        }
    }

    /// Whether it is shown that this store has all commits of a file of this device, which has this mark and tells of `heads`.
    ///
    /// The heads alone do not show it: a store that was set back may have given their numbers to other commits since.
    package func hasAll(_ heads: [Head], ofFileMarked mark: [UInt8]) throws -> Bool {
        let vector = try vector()
        guard mark.count == Self.carriedMarkBytes, heads.allSatisfy({ vector.covers($0.dot) }) else { return false }
        let marks = try read(rows: false) { ledger in try Self.marks(VectorRecords(connection: ledger.connection)) }
        return stride(from: 0, to: marks.count, by: Self.carriedMarkBytes).contains { marks[$0...].starts(with: mark) }
    }

    private static func marks(_ records: VectorRecords) throws -> [UInt8] {
        guard case .blob(let bytes)? = try records.meta(carriedMarks), bytes.count % carriedMarkBytes == 0 else { return [] }
        return bytes
    }
}
