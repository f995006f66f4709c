import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync

/// A machine: its database, its store while the process runs, and its clock.
final class SimulatedNode {
    let index: Int
    let clock = NodeClock()
    var course = ClockCourse()
    private let workload: Workload
    /// Whether the older version of the app runs on it.
    private(set) var isOld: Bool
    /// Whether its database came from a machine whose process did not run, and so had not signed its last commits.
    private(set) var mayHoldUnproven = false
    /// Whether the whole machine is what it was before, so that its store cannot tell.
    private(set) var wentBack = false
    /// A node that is no longer a member, whoever has heard of that.
    var isRevoked = false
    /// What the node holds of the household, of which it is a member or was; `nil` where everybody is one for ever.
    var household: SimulatedHousehold?
    /// In which of the node's memberships its store speaks.
    private var round = 0
    private let identities: ReplicaIDSource
    /// What stood in its tables before they were tracked.
    private(set) var foundRows: FoundRows
    private let disk: NodeDisk
    /// `nil` while the process does not run.
    private(set) var store: SyncedDatabase?
    /// What its store proves to others and believes of them.
    private(set) var proofs: (any ProofBook)?
    /// An observer of each tracked table, in order.
    let probes: [ObservationProbe]
    /// An observer of each table that triggers of the app fill.
    private let filledProbes: [ObservationProbe]
    /// What an app on this node shows that observes each of its tables.
    var liveQueries: [LiveQuery] = []
    /// What an app shows that follows each of its tables by differences, if that is judged.
    var lists: [ListWatch] = []
    /// What its tables showed when they were compared with its journal last; `nil` before the first time, and after what no journal is about.
    var history: HistoryWatch?
    /// The rows that a rule of the app refuses here.
    var refused: Set<RowKey> = []
    /// The machine sleeps, with its process as it was.
    var isAsleep = false
    /// How many lies it has told.
    var lies: UInt64 = 0
    /// What the node's user has open.
    let editor: TextEditor
    /// The store's own summary, as of its last commit.
    var summary: StoreSummary
    /// What would survive a loss of power, as the node was told.
    var durable = VersionVector() {
        didSet { calledDurable.join(durable) }
    }
    /// All that it ever called so.
    private(set) var calledDurable = VersionVector()
    /// What the oracle takes the node to have seen.
    var known = NodeKnowledge()
    /// What the senders of lists of deletions knew, which a store may say of the rows that a list passes over.
    var listed = Knowledge()
    /// What the node's sessions hear.
    var router = SessionRouter()
    /// Whom the node dials, and when: the nodes that it has links to, each at its one address.
    var planner = DialPlanner<Int, Int, Int>()
    /// When it looks next whom to dial.
    var dialsAt: Int64?
    /// What the store told of commits, and the router has not heard.
    let news = NewsBox()
    private var observation: CommitObservation?
    var isDiskLimited = false
    var isDiskBroken = false
    /// The power fails as soon as the disk does.
    private(set) var isLosingPower = false
    /// What the oracle took the node to have seen, with its store's summary: when everything was last on the disk, and after
    /// each commit since. One of these a loss of power leaves.
    private(set) var past: [Moment] = []
    /// What it had seen before it lost its power or an older copy took the place of its database; what it told others then may be under way still.
    private(set) var forgotten: [NodeKnowledge] = []
    /// The power was lost, and the store has not been opened since.
    private(set) var hasLostPower = false
    /// Grows with every start of the process.
    private(set) var generation = 0
    private var boots = 0
    /// Whether its store takes few changes of a text in one transaction, and reads little for that.
    let takesLittle: Bool
    /// What the small file beside the database was when the process began.
    private var firstSentinel = Data()
    var backup: Backup?

    struct Moment {
        let summary: StoreSummary
        let known: NodeKnowledge
    }

    /// A copy of the database, and what the oracle knows of it.
    struct Backup {
        let content: Data
        let known: NodeKnowledge
        let summary: StoreSummary
        /// Whether an older version of the app had the database.
        let isOld: Bool
        let mayHoldUnproven: Bool
        /// What lay beside it, by name.
        let beside: [String: Data]
    }

    /// - Parameters:
    ///   - inMemory: whether the disk is never copied, restored or left as a crash leaves it.
    ///   - found: what stands in its tables before they are tracked.
    ///   - isLate: whether its process is started later.
    init(
        index: Int, workload: Workload, seed: UInt64, isOld: Bool = false, inMemory: Bool = true, found: [RowWrite] = [],
        isLate: Bool = false, household: SimulatedHousehold? = nil, takesLittle: Bool = false,
        characters: CharacterSource = CharacterSource(.typed)
    ) throws {
        self.index = index
        self.household = household
        self.takesLittle = takesLittle
        editor = TextEditor(characters)
        self.workload = workload
        foundRows = FoundRows(found)
        self.isOld = isOld && workload.olderTables != nil
        identities = ReplicaIDSource(seed: seed, node: index)
        clock.milliseconds = ClockCourse.epochMilliseconds
        probes = workload.tables.map { ObservationProbe(table: $0.name) }
        filledProbes = workload.filled.map { ObservationProbe(table: $0) }
        disk = try NodeDisk(inMemory: inMemory)
        summary = StoreSummary(replica: ReplicaID(high: 0, low: 0), heads: [], clock: .zero)
        let template = workload.template(isOld: self.isOld)
        if foundRows.concern(tables) {
            try template.copyUntracked(to: disk.database)
            try foundRows.put(into: disk.database, tables)
        } else {
            try template.copy(to: disk.database)
        }
        if !isLate { try start() }
        disk.faults?.settle()
        noteDurable()
    }

    var version: SimulatedSchema.Version {
        if isOld, let older = workload.schema.older { older } else { workload.schema.current }
    }
    /// The workload's tables, as the app on this node knows them.
    var tables: [WorkloadTable] {
        if isOld, let older = workload.olderTables { older } else { workload.tables }
    }
    /// The tables that triggers of the app fill.
    var filled: [String] { workload.template(isOld: isOld).filled }
    var database: any DatabaseWriter { disk.database }
    var name: String { nodeName(index) }
    /// Whom the others take this node for, whatever replica it is.
    var device: [UInt8] { Array(name.utf8) }
    var authority: SimulatedAuthority { SimulatedAuthority(device: device, household) }
    /// Whether the node takes the other one for a member, and itself.
    func trusts(_ other: SimulatedNode) -> Bool { household?.trusts(other.authority.id) ?? true }
    var isRunning: Bool { store != nil }
    /// Whether anybody can reach it.
    var isAwake: Bool { isRunning && !isAsleep }

    // MARK: The process

    func start() throws {
        guard store == nil else { return }
        generation += 1
        var options = SyncedDatabase.Options(
            clock: { [clock] in HybridTimestamp(milliseconds: clock.milliseconds) },
            makeReplicaID: { [identities] in identities.next() }, host: HostIdentity(machine: name, boot: String(boots)))
        options.synchronizeLog = FaultyDisk.synchronize(path:)
        options.watchesFile = false
        if takesLittle {
            options.textBudget.changesMax = 1 + index % 2
            options.textBudget.changesOfAllMax = 3
            options.textBudget.readMax = 2
            options.textBudget.changesAsideMax = 3
        }
        let authority = authority
        options.deviceKey = { [key = authority.key] in key }
        // A merge takes no time here, so that none is cut into portions.
        options.monotonicMilliseconds = { 0 }
        // Its user lets the others refill what a loss of power has taken.
        options.refillsLostStore = true
        let store = try SyncedDatabase(database, tables: version.tables, options: options)
        _ = try store.renewIdentity(from: StoreTemplate.replica)
        try speak(store)
        self.store = store
        observation = store.observeCommitNews { [news] in news.add($0) }
        firstSentinel = disk.sentinel()
        for probe in probes + filledProbes { database.add(transactionObserver: probe, extent: .observerLifetime) }
        liveQueries = zip(tables, probes).filter(\.0.isKnown).map { LiveQuery($0, $1) }
        let filled = filled
        liveQueries += filledProbes.filter { filled.contains($0.table) }.map { LiveQuery(filled: $0.table, $0) }
        if workload.schema.judgesHistory { lists = tables.filter(\.isKnown).map { ListWatch($0, store) } }
        // As a node does when it begins to sync.
        try? store.takeTextTurns()
        // After a loss of power it first has to be found out which moment this is.
        if !hasLostPower { noteMoment() }
    }

    /// Lets the store speak for the machine, in its present membership: under another id in each.
    private func speak(_ store: SyncedDatabase) throws {
        round = household?.roundsEnded(of: authority.id) ?? 0
        proofs = try store.bind(to: authority)
        summary = try store.summary()
    }

    /// Whether the machine has ceased to be a member since its store began to speak.
    var isInAnotherRound: Bool { household.map { $0.roundsEnded(of: authority.id) != round } ?? false }

    func speakAgain() throws {
        if let store { try speak(store) }
    }

    /// The process is killed; what it committed stays.
    func stop() throws {
        guard store != nil else { return }
        try disk.kill(closing: close)
        try disk.reopen(afterLoss: false)
        store = nil
        isAsleep = false
    }

    /// The newer version of the app takes the database over, and waits until that is on the disk. The process must not run.
    func update() throws {
        isOld = false
        history = nil
        try version.migrate(database)
        if !hasLostPower { try foundRows.put(into: database, tables) }
        disk.faults?.settle()
        // After a loss of power it first has to be found out which moment this is.
        if !hasLostPower { noteDurable() }
    }

    /// The machine loses its power, and with it some of what was not synced.
    func losePower(seed: UInt64) throws {
        try disk.losePower(seed: seed, sentinels: [firstSentinel, disk.sentinel(), Data()], closing: close)
        try disk.reopen(afterLoss: true)
        (isLosingPower, isDiskBroken, isDiskLimited, hasLostPower) = (false, false, false, true)
        boots += 1
        history = nil
        store = nil
        isAsleep = false
    }

    private func close() {
        observation = nil
        lists = []
        editor.closeAll()
        store?.close()
        for probe in probes + filledProbes { database.remove(transactionObserver: probe) }
    }

    /// What was found is part of what the store knows, and on the disk.
    func adopted() {
        foundRows.adopted()
        disk.faults?.settle()
        noteDurable()
    }

    // MARK: What is on the disk

    /// The store has moved on.
    func noteMoment() {
        if disk.faults != nil { past.append(Moment(summary: summary, known: known)) }
    }

    /// All that the node knows is on its disk.
    func noteDurable() {
        past = []
        noteMoment()
    }

    /// The store that was opened after a loss of power is what it was at `moment`.
    func recovered(_ moment: Moment) {
        if let last = past.last { forgotten.append(last.known) }
        known = moment.known
        hasLostPower = false
        noteDurable()
    }

    /// The machine is no longer needed.
    func remove() {
        try? stop()
        disk.remove()
    }

    // MARK: The disk

    /// Lets the disk take this many writes and syncs more; without limit if `nil`.
    func limitDisk(toWrites count: Int?) {
        isDiskLimited = count != nil
        guard let faults = disk.faults, !isDiskBroken, !isLosingPower else { return }
        if let count { faults.fail(.full, afterWrites: count) } else { faults.work() }
    }

    /// Every write and sync fails after this many more.
    func breakDisk(afterWrites count: Int) {
        guard let faults = disk.faults, !isLosingPower else { return }
        isDiskBroken = true
        faults.fail(.broken, afterWrites: count)
    }

    func mendDisk() {
        guard isDiskBroken, !isLosingPower else { return }
        isDiskBroken = false
        disk.faults?.work()
    }

    /// The power fails after this many more writes and syncs, in the middle of whatever the store does then.
    func planPowerLoss(afterWrites count: Int) {
        guard let faults = disk.faults, store != nil else { return }
        isLosingPower = true
        faults.fail(.broken, afterWrites: count)
    }

    /// Whether a disk that is full or broken has refused something.
    var hasDiskFailed: Bool { (isDiskBroken || isDiskLimited) && disk.faults?.hasFailed == true }

    /// Whether the moment has come.
    var isWithoutPower: Bool { isLosingPower && disk.faults?.hasFailed == true }

    /// Whether the disk has answered with an error.
    private var isDiskFailing: Bool { (isDiskBroken || isLosingPower) && disk.faults?.hasFailed == true }

    /// The fault of the disk that `error` comes of; `nil` if it is the store's own.
    func cause(of error: any Error) -> Fault? {
        let (isFull, isBroken) =
            switch error {
            case let error as DatabaseError: (error.resultCode == .SQLITE_FULL, error.resultCode == .SQLITE_IOERR)
            case let error as StoreError: (error.code == .diskFull, error.code == .failed)
            default: (false, false)
            }
        if isDiskLimited && isFull { return .fullDisk }
        return isDiskFailing && isBroken ? isLosingPower ? .powerLoss : .brokenDisk : nil
    }

    /// Copies the disk, unless it lost its power and nobody has looked yet what it holds, or it fails.
    func makeBackup() throws {
        // Of rows that no opening has adopted, nothing else would tell that they come with the copy.
        if hasLostPower || generation == 0 || !foundRows.unadopted.isEmpty { return }
        // The copy has these commits, too. So this machine must not lose them, and make others under their numbers.
        do { _ = try store?.makeDurable() } catch  where cause(of: error) != nil { return }
        backup = Backup(
            content: try disk.copy(), known: known, summary: summary, isOld: isOld, mayHoldUnproven: mayHoldUnproven || store == nil,
            beside: disk.beside())
    }

    /// Puts `backup` in the place of the database, and if it is the whole machine's also what lay beside. The process must not run.
    func replaceDatabase(by backup: Backup, isWhole: Bool) throws {
        try disk.replace(by: backup.content)
        if isWhole { try disk.putBeside(backup.beside) }
        wentBack = isWhole
        history = nil
        if backup.isOld, !isOld {
            try version.migrate(database)
            disk.faults?.settle()
        }
        // Apps refuse the database of a newer version: that comes with it.
        if !backup.isOld { isOld = false }
        foundRows.forgetUnadopted()
        forgotten.append(known)
        (known, summary) = (backup.known, backup.summary)
        (isDiskLimited, isDiskBroken, isLosingPower, hasLostPower) = (false, false, false, false)
        durable = VersionVector()
        mayHoldUnproven = backup.mayHoldUnproven
        noteDurable()
    }
}
