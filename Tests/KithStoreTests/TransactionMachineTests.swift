import KithCausality
import KithSync
import TestSupport
import Testing

@testable import KithLedger

/// Risk: after some order of statements, savepoints, commits that fail and rollbacks, two commits get one number, a commit is told that
/// is none, or what a rollback took back is taken for kept.
///
/// The machine is driven as the store drives it, over a plain model of a file and a connection. All orders of events are tried.
@Suite struct TransactionMachineTests {
    @Test func `any order of seven events keeps commits and transactions together`() throws {
        var orders = 0
        try Self.explore(World(), depth: 7, &orders)
        // Orders in which each event can happen.
        #expect(orders > 300_000)
    }

    @Test func `longer orders, drawn at random, keep them together too`() throws {
        var random = SplitMix64(seed: 1)
        for _ in 0..<2_000 {
            var world = World()
            for _ in 0..<40 {
                if let event = World.Event.allCases.randomElement(using: &random), world.allows(event) { try world.happen(event) }
            }
        }
    }

    private static func explore(_ world: World, depth: Int, _ orders: inout Int) throws {
        if depth == 0 {
            orders += 1
            return
        }
        for event in World.Event.allCases where world.allows(event) {
            var next = world
            try next.happen(event)
            try explore(next, depth: depth - 1, &orders)
        }
    }
}

/// A file, the connection that writes it, and what the store knows by the machine alone.
private struct World {
    enum Event: CaseIterable {
        case read, write, insertMany, insertManyFails
        case savepoint, rollBackToSavepoint
        case commit, commitFindsFileBusy, commitFindsDiskFull, rollBack
        case otherProcessCommits
    }

    /// What a transaction sees and changes.
    struct Content: Equatable {
        var number: UInt64 = 0
        /// Stands for the catalog.
        var catalog = 0
    }

    var file = Content()
    var version: UInt32 = 1
    /// The open transaction: what it sees, and what it saw when each savepoint began.
    var open: (content: Content, savepoints: [Content])?
    /// Whether the open transaction holds a write that was noted, and clocks that were stored by half.
    var hasNoted = false
    var isBroken = false
    var machine = TransactionMachine()
    /// The catalog in memory.
    var catalog: Int?
    var told: [UInt64] = []

    func allows(_ event: Event) -> Bool {
        switch event {
        case .read, .write: true
        case .insertMany, .insertManyFails: hasNoted && !isBroken
        case .savepoint: open.map { $0.savepoints.count < 2 } ?? false
        case .rollBackToSavepoint: open?.savepoints.isEmpty == false
        case .commit, .rollBack: true
        case .commitFindsFileBusy, .commitFindsDiskFull: open != nil
        case .otherProcessCommits: open == nil
        }
    }

    mutating func happen(_ event: Event) throws {
        switch event {
        case .read: try enter()
        case .write: try write()
        case .insertMany, .insertManyFails:
            try require(machine.handle(.storingRows) == .proceed)
            if event == .insertManyFails { isBroken = true } else { _ = machine.handle(.storedRows) }
        case .savepoint:
            let content = open?.content ?? file
            open?.savepoints.append(content)
        case .rollBackToSavepoint:
            if let content = open?.savepoints.last { open?.content = content }
            if machine.isJoined { _ = machine.handle(.rolledBackToSavepoint) }
        case .commit: try commit()
        case .commitFindsFileBusy: _ = try beginCommit()
        case .commitFindsDiskFull:
            guard try beginCommit() else { return }
            rollBack()
        case .rollBack:
            rollBack()
            _ = machine.handle(.rolledBack)
            forget()
        case .otherProcessCommits:
            file.number += 1
            version += 1
        }
    }

    // MARK: What the store does

    private mutating func enter() throws {
        if machine.current != nil { return try require(catalog == open?.content.catalog) }
        var step = tell(.entered(version: version))
        if step == .forget {
            forget()
            step = tell(.entered(version: version))
        }
        try require(step == .look || step == .proceed)
        if step == .look {
            catalog = (open?.content ?? file).catalog
            _ = machine.handle(.looked(version: version))
        }
        // What is in memory is what the transaction sees.
        try require(catalog == (open?.content ?? file).catalog)
    }

    private mutating func write() throws {
        if open == nil { open = (file, []) }
        try enter()
        var step = machine.current.map(TransactionMachine.Step.note) ?? machine.handle(.write(version: version))
        while true {
            switch step {
            case .give: step = machine.handle(.gave(noted(file.number + 1)))
            case .join: step = machine.handle(.joined)
            case .store(let noted):
                open?.content.number = noted.stamp.dot.sequence
                step = machine.handle(.storedNumber)
            case .note(let noted):
                try require(!isBroken && machine.isJoined)
                try require(noted.stamp.dot.sequence == file.number + 1 && open?.content.number == file.number + 1)
                // A write may add to the catalog, as the first edit of a row that was there before does.
                open?.content.catalog += 1
                catalog = open?.content.catalog
                hasNoted = true
                return
            case .refuse: return try require(isBroken)
            case .proceed, .look, .ask, .forget, .commit: return try require(false)
            }
        }
    }

    /// What SQLite says before it commits. Returns whether it goes on.
    private mutating func beginCommit() throws -> Bool {
        if machine.isJoined {
            let step = tell(.tableWillCommit)
            try require((step == .refuse) == isBroken)
            if step == .refuse { return false }
        }
        _ = machine.handle(.willCommit)
        return true
    }

    private mutating func commit() throws {
        guard try beginCommit() else { return }
        let committed = open?.content ?? file
        let isCommit = committed.number > file.number
        if machine.isJoined { _ = machine.handle(.tableCommitted) }
        file = committed
        version += 1
        (open, hasNoted) = (nil, false)
        switch tell(.committed) {
        case .commit(let noted):
            try require(isCommit && noted.stamp.dot.sequence == file.number && !told.contains(file.number))
            told.append(file.number)
        case .forget:
            try require(!isCommit)
            forget()
        case let step: try require(step == .proceed && !isCommit)
        }
        try require(machine.phase == .quiet && machine.ending == .notAsked && !machine.isJoined)
    }

    private mutating func rollBack() {
        if machine.isJoined { _ = machine.handle(.tableRolledBack) }
        (open, hasNoted, isBroken) = (nil, false, false)
    }

    private mutating func forget() {
        catalog = nil
    }

    private mutating func tell(_ event: TransactionMachine.Event) -> TransactionMachine.Step {
        let step = machine.handle(event)
        guard case .ask(let noted) = step else { return step }
        return machine.handle(event, isHeld: (open?.content ?? file).number >= noted.stamp.dot.sequence)
    }

    // MARK: Helpers

    private func noted(_ number: UInt64) -> TransactionMachine.Noted {
        let dot = Dot(replica: ReplicaID(high: 1, low: 1), sequence: number)
        return TransactionMachine.Noted(
            version: version, replicaNumber: 0, stamp: Stamp(dot: dot, timestamp: HybridTimestamp(milliseconds: 1)))
    }

    private func require(_ holds: Bool) throws {
        if !holds { throw Contradiction(world: self) }
    }

    struct Contradiction: Error { let world: World }
}
