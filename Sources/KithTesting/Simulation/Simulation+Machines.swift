import KithCausality
import KithStore
import KithSync

/// What befalls machines and their disks.
extension Simulation {
    func crash(_ node: SimulatedNode) throws {
        guard node.isRunning else { return }
        for end in ends(of: node) {
            forget(end)
            // A process that dies closes its connections; a machine that hangs does not.
            let isHeard = random.chance(percent: 70)
            if isHeard, isOpen(end.other) { plan(.hangUp(end.other), at: now + random.int64(in: script.conditions.latencyMilliseconds)) }
        }
        try node.stop()
    }

    /// Nobody hears of it. What was not synced is lost, or not, or torn.
    func losePower(_ node: SimulatedNode) throws {
        guard node.isRunning || node.isLosingPower else { return }
        trace.note(now, "\(node.name) loses its power")
        for end in ends(of: node) { forget(end) }
        note(.powerLoss)
        try node.losePower(seed: storeRandom.next())
    }

    func start(_ node: SimulatedNode) throws {
        guard !node.isRunning else { return }
        _ = wallClock(of: node)
        let before = node.summary
        do {
            try node.start()
        } catch  where excuses(error, node) {
            if node.isWithoutPower { try losePower(node) }
            return
        }
        try introduce(node)
        try noteAdoption(node)
        beginRouting(node)
        try checkOpened(node, after: before)
        try checkLiveQueries(node)
        (node.planner, node.dialsAt) = (DialPlanner(), nil)
        dialAgain(node)
    }

    /// One machine falls asleep. Its peers notice by its silence.
    func nap(_ node: SimulatedNode) throws {
        guard node.isAwake else { return }
        for end in ends(of: node) { forget(end) }
        node.isAsleep = true
    }

    /// It wakes up, with its store and its editors open, and finds its connections gone.
    func wake(_ node: SimulatedNode) throws {
        guard node.isAsleep else { return }
        node.isAsleep = false
        plan(.flush(node: node.index, generation: node.generation), at: now + Self.flushMilliseconds)
        dialAgain(node)
    }

    /// All connections die; time passes in which nothing happens.
    func sleep(hours: Int64) throws {
        for link in links.indices {
            for side in 0...1 {
                links[link].ends[side]?.inbound = []
                if links[link].ends[side] != nil { try close(EndID(link: link, side: side, epoch: links[link].epoch)) }
            }
        }
        now += hours * 3_600_000
    }

    func restore(_ node: SimulatedNode, from source: SimulatedNode) throws {
        note(source === node ? .restore : .clone)
        try setBack(node, to: source.backup)
    }

    /// The machine is what it was at its last backup. From inside this looks like nothing: others tell it.
    func revert(_ node: SimulatedNode) throws {
        note(.revert)
        try setBack(node, to: node.backup, isWhole: true)
    }

    /// Whether the machine went back to where others have more of the same replica, and has not met them yet: what it wrote would have a
    /// number that others know for something else, which no store can tell.
    func mayRepeatItself(_ node: SimulatedNode) -> Bool {
        node.wentBack && ledger.commitCount(of: node.summary.replica) > node.summary.vector[node.summary.replica]
    }

    private func setBack(_ node: SimulatedNode, to backup: SimulatedNode.Backup?, isWhole: Bool = false) throws {
        guard let backup else { return }
        let wasRunning = node.isRunning
        // Nobody restores a database in the tenth of a second in which its last commit is not on the disk yet.
        try flush(node, node.generation)
        // Its peers must not take what it sent, during the flush too, for what the machine says that takes its place, nor what they have
        // received and not written yet.
        if isWhole { for end in ends(of: node) { forget(end.other) } }
        try crash(node)
        var remaining = backup.known.common
        for other in nodes where other !== node { remaining.join(other.known.common) }
        ledger.lose(beyond: remaining)
        try node.replaceDatabase(by: backup, isWhole: isWhole)
        if wasRunning { try start(node) }
    }

    /// A process of the newer version of the app takes the place of the older one, if that ever ran.
    func update(_ node: SimulatedNode) throws {
        guard node.isOld, node.generation > 0, !node.isDiskLimited, !node.isDiskBroken, !node.isLosingPower else { return }
        note(.oldVersion)
        let wasRunning = node.isRunning
        try crash(node)
        try node.update()
        if wasRunning { try start(node) }
    }

    // MARK: Members

    /// Tells a store who the other members are, if that matters.
    func introduce(_ node: SimulatedNode) throws {
        guard script.collectsGarbage || script.carries || script.lies, let store = node.store else { return }
        do {
            try store.setMembers(nodes.filter { $0 !== node && !$0.isRevoked }.map(\.device))
        } catch  where excuses(error, node) {}
    }

    /// A peer says what it cannot lose.
    func hear(_ status: PeerStatus, _ end: EndID) throws {
        if let event = ledger.unmade(in: [status.vector, status.durable], taint) {
            throw Violation(
                .vectorClaimsUnknown,
                "\(node(of: end).name) believes \(node(of: end.other).name) that it knows \(ledger.name(of: event)), which was not made.")
        }
        guard taint.hasLies || node(of: end.other).calledDurable.covers(status.durable) else {
            throw Violation(
                .durableLost,
                "\(node(of: end).name) believes that \(node(of: end.other).name) cannot lose \(status.durable), of which that has not said so."
            )
        }
        let isAsked = script.collectsGarbage || script.carries ? !taint.hasLies : script.lies
        guard isAsked, let store = node(of: end).store else { return }
        _ = wallClock(of: node(of: end))
        do {
            try store.noteMember(node(of: end.other).device, replica: status.replica, durable: status.durable)
        } catch  where excuses(error, node(of: end)) {}
    }

    /// Deleted rows go for good, which nobody must see.
    func collect(_ node: SimulatedNode) throws {
        guard let store = node.store, !node.isAsleep else { return }
        _ = wallClock(of: node)
        do {
            let rows = try store.collectGarbage()
            if rows > 0 { note(.garbage) }
            statistics.rowsCollected += rows
        } catch  where excuses(error, node) {
            if node.isWithoutPower { return try losePower(node) }
        }
        try checkUnchanged(node)
    }
}
