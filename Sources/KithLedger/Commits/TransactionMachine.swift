import KithCausality
import KithSync

/// What is known of the transaction that is open on the writing connection. A pure value: it is told what SQLite and GRDB say, and
/// answers what is to be done. It never looks at a file.
///
/// Two of them speak. The virtual table (``TransactionTable``) hears of savepoints, of the commit before and after, and of a rollback,
/// but only in a transaction that it has joined. GRDB's observer hears of every commit before and after, and of a rollback that the app
/// asked for; it hears nothing of a commit that failed. If the file was busy then, the transaction is still open; of any other failure
/// (a full disk) SQLite has rolled it back.
package struct TransactionMachine: Equatable {
    /// The commit that a transaction is about to be.
    package struct Noted: Equatable {
        /// What the transaction saw of the file when it was given its dot.
        package let version: UInt32
        package let replicaNumber: Int
        package let stamp: Stamp

        package init(version: UInt32, replicaNumber: Int, stamp: Stamp) {
            self.version = version
            self.replicaNumber = replicaNumber
            self.stamp = stamp
        }
    }

    package enum Phase: Equatable {
        /// The transaction, if one is open, has no dot. Next: it gets one, or it ends.
        case quiet
        /// It has a dot, whose number is not in the file: not yet, or something was rolled back, which may have taken it out. Next: the
        /// number is stored; or somebody has looked and found it there; or the transaction ends.
        case given(Noted)
        /// The number is in the file. Next: another write; clocks of inserted rows are stored; a rollback; a commit.
        case stored(Noted)
        /// Clocks of inserted rows are being stored. Next: they are; or this has failed, half of them may be there, and nothing but a
        /// rollback helps, so that whatever comes is refused until the transaction has ended.
        case storingRows(Noted, isNumberStored: Bool)
    }

    /// Whether SQLite was about to commit, and nobody has told yet what became of it.
    package enum Ending: Equatable {
        case notAsked
        case asked
        /// It was asked again, and nothing was read or written between: the first commit has failed, or the file was busy.
        case askedAgain
    }

    package enum Event: Equatable {
        /// Something is about to be read or written. `version`: what the open transaction sees of the file.
        case entered(version: UInt32)
        /// What is kept in memory is what this version says.
        case looked(version: UInt32)
        /// A write is to be noted.
        case write(version: UInt32)
        /// The transaction has got its dot, the virtual table has joined it, the number is in the file: what ``Step`` asked for.
        case gave(Noted)
        case joined
        case storedNumber
        /// Clocks of inserted rows are about to be stored, and have been.
        case storingRows
        case storedRows
        /// What the virtual table hears.
        case rolledBackToSavepoint
        case tableWillCommit
        case tableCommitted
        case tableRolledBack
        /// What GRDB's observer hears.
        case willCommit
        case committed
        case rolledBack
    }

    package enum Step: Equatable {
        /// Nothing.
        case proceed
        /// The catalog and all else that is kept in memory must be read again; then comes ``Event/looked(version:)``.
        case look
        /// A dot is needed; then comes ``Event/gave(_:)``.
        case give
        /// The virtual table must join the transaction; then comes ``Event/joined``.
        case join
        /// The number must be written; then comes ``Event/storedNumber``.
        case store(Noted)
        /// The write is part of this commit.
        case note(Noted)
        /// Whether the file holds this commit's number must be looked up; then comes the same event with the answer.
        case ask(Noted)
        /// The transaction that was to be committed is gone: all that was noted of it must be forgotten. After ``Event/entered(version:)``
        /// the same event comes again.
        case forget
        /// The transaction has committed, and was this commit.
        case commit(Noted)
        /// The transaction can only be rolled back.
        case refuse
    }

    package private(set) var phase = Phase.quiet
    package private(set) var ending = Ending.notAsked
    /// Whether the virtual table hears what becomes of the open transaction.
    package private(set) var isJoined = false
    /// What is kept in memory is what this version says; `nil` if it must be read again.
    package private(set) var seen: UInt32?
    /// Whether what was added to the catalog may have been taken back since, by a savepoint or by a statement that failed.
    package private(set) var isCatalogInDoubt = false

    /// The open transaction's commit, if all is done that a write needs: until something else is told, the answer to another write.
    package var current: Noted? {
        guard isJoined, !isCatalogInDoubt, ending == .notAsked, case .stored(let noted) = phase, seen == noted.version else { return nil }
        return noted
    }

    /// The commit that the open transaction is going to be, whether its number is in the file or not.
    package var noted: Noted? {
        switch phase {
        case .quiet: nil
        case .given(let noted), .stored(let noted), .storingRows(let noted, _): noted
        }
    }

    /// - Parameter isHeld: whether the file holds the number of ``noted``; `nil` if nobody has looked.
    package mutating func handle(_ event: Event, isHeld: Bool? = nil) -> Step {
        switch event {
        case .entered(let version): return entered(version, isHeld)
        case .looked(let version): (seen, isCatalogInDoubt) = (version, false)
        case .write(let version): return next(version)
        case .gave(let noted):
            phase = .given(noted)
            return next(noted.version)
        case .joined:
            isJoined = true
            // What was stored before is of a transaction that has ended.
            if case .stored(let noted) = phase { phase = .given(noted) }
            if let noted { return next(noted.version) }
        case .storedNumber:
            if let noted { phase = .stored(noted) }
            if let noted { return next(noted.version) }
        case .storingRows: return storingRows()
        case .storedRows:
            if case .storingRows(let noted, let isNumberStored) = phase { phase = isNumberStored ? .stored(noted) : .given(noted) }
        case .rolledBackToSavepoint:
            isCatalogInDoubt = true
            if case .stored(let noted) = phase { phase = .given(noted) }
        case .tableWillCommit: return tableWillCommit(isHeld)
        case .tableCommitted: isJoined = false
        case .tableRolledBack:
            isJoined = false
            if let noted { phase = .given(noted) }
        case .willCommit: ending = ending == .notAsked ? .asked : .askedAgain
        case .committed: return committed(isHeld)
        case .rolledBack: reset()
        }
        return .proceed
    }

    private mutating func entered(_ version: UInt32, _ isHeld: Bool?) -> Step {
        if ending != .notAsked {
            // The file has changed since, or there was nothing in it: that transaction is gone.
            guard seen == version, let noted else { return forget() }
            guard let isHeld else { return .ask(noted) }
            if !isHeld { return forget() }
            ending = .notAsked
        }
        return seen == version && !isCatalogInDoubt ? .proceed : .look
    }

    private mutating func reset() {
        (phase, ending, seen, isCatalogInDoubt) = (.quiet, .notAsked, nil, false)
    }

    private mutating func forget() -> Step {
        reset()
        return .forget
    }

    /// What the next write needs, in a transaction that sees `version`.
    private func next(_ version: UInt32) -> Step {
        switch phase {
        case .given(let noted) where noted.version == version: isJoined ? .store(noted) : .join
        case .stored(let noted) where noted.version == version: isJoined ? .note(noted) : .join
        case .storingRows: .refuse
        case .quiet, .given, .stored: .give
        }
    }

    private mutating func storingRows() -> Step {
        switch phase {
        case .quiet, .storingRows: return .refuse
        case .given(let noted):
            phase = .storingRows(noted, isNumberStored: false)
            return .proceed
        case .stored(let noted):
            phase = .storingRows(noted, isNumberStored: true)
            return .proceed
        }
    }

    /// A statement that failed has perhaps taken nothing back but its own writes.
    private mutating func tableWillCommit(_ isHeld: Bool?) -> Step {
        switch phase {
        case .quiet, .stored: return .proceed
        case .storingRows: return .refuse
        case .given(let noted):
            guard let isHeld else { return .ask(noted) }
            if isHeld { phase = .stored(noted) }
            return .proceed
        }
    }

    private mutating func committed(_ isHeld: Bool?) -> Step {
        if ending == .askedAgain {
            guard let noted else { return forget() }
            guard let isHeld else { return .ask(noted) }
            if !isHeld { return forget() }
        }
        defer { (phase, ending) = (.quiet, .notAsked) }
        if case .stored(let noted) = phase { return .commit(noted) }
        return .proceed
    }
}
