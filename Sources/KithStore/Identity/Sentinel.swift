import Foundation
import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// The small file beside a database by which a copy, a restored file and an unclean stop are told.
///
/// It says which replica the database was when it was last open here, and that this was *this* file on *this* machine.
struct Sentinel: Codable, Hashable {
    static let formatVersion = 1

    var format = formatVersion
    /// The replica, 32 hexadecimal digits.
    var replica: String
    var machine: String
    var boot: String
    var inode: UInt64
    /// Drawn anew at each opening, and kept in the database as well: an older file put in place has another one.
    var opening: String
    /// The mark before, until the new one is on the disk in the database, too.
    var openingBefore: String?
    /// A commit of the replica that the database must have.
    var sequence: UInt64
    /// Whether everything was on the disk when the last process closed the store.
    var isClean: Bool
    /// Whether the database held any commit, whoever's.
    var isFilled: Bool?

    /// The sentinel of a database; `nil` if there is none that can be read.
    init?(path: String) {
        guard let bytes = SmallFile.read(path), let read = try? JSONDecoder().decode(Sentinel.self, from: Data(bytes)),
            read.format == Self.formatVersion
        else { return nil }
        self = read
    }

    init(_ claim: Claim, host: HostIdentity, file: DatabaseFile) {
        replica = claim.replica.description
        machine = host.machine
        boot = host.boot
        inode = file.inode
        opening = claim.opening
        sequence = claim.sequence
        isFilled = claim.isFilled
        isClean = false
    }

    func write(to path: String, isDurable: Bool) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try SmallFile.replace(path, with: Array(try encoder.encode(self)) + [UInt8(ascii: "\n")], isDurable: isDurable)
    }

    /// Why the database beside this file cannot go on as the replica it says it is; `nil` if it can.
    /// - Parameter ahead: what is noted of commits that others may know.
    func doubt(_ claim: Claim, host: HostIdentity, file: DatabaseFile, ahead: AheadMark.Content?) -> IdentityDoubt? {
        if replica != claim.replica.description { return .otherDatabase }
        if opening != claim.opening, openingBefore != claim.opening { return .otherDatabase }
        if machine != host.machine { return .otherMachine }
        if inode != file.inode { return .otherFile }
        if sequence > claim.sequence { return .olderDatabase }
        // Of an id that is nobody's, commits are believed without a signature, so that nothing was noted when they were told.
        if !isClean, boot != host.boot, ahead?.isAhead == true || !claim.replica.isOfDevice { return .uncleanStop }
        if let ahead, ahead.replica == replica, ahead.sequence > claim.sequence { return .olderDatabase }
        return nil
    }

    /// What a database says of itself.
    struct Claim {
        var replica: ReplicaID
        var opening: String
        /// The replica's newest commit.
        var sequence: UInt64
        /// Whether there is any commit, whoever's.
        var isFilled: Bool
    }
}

/// Why a store took a new replica id when it was opened.
package enum IdentityDoubt: String, Hashable, Sendable {
    /// There was no file beside the database that knows it: it is a copy or a backup.
    case unknown
    /// The file beside it knows another database, or an earlier state of this one.
    case otherDatabase
    case otherMachine
    /// The database was copied within the machine.
    case otherFile
    /// Commits that were there are missing.
    case olderDatabase
    /// The machine stopped, and others may have commits that were not on the disk.
    case uncleanStop

    /// Whether what the old id wrote was surely written on this device.
    var isOfThisDevice: Bool { self == .olderDatabase || self == .uncleanStop }
}

extension VectorRecords {
    /// What the database says of itself, which the sentinel compares. Another process may give the store a new id at any moment.
    func claim() throws -> Sentinel.Claim {
        let standing = try standing()
        return Sentinel.Claim(
            replica: standing.replica, opening: standing.opening, sequence: standing.sequence, isFilled: standing.isFilled)
    }
}
