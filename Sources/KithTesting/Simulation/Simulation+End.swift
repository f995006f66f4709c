import GRDB
import KithCausality
import KithStore
import KithSync

/// The second phase: everything works again, and all must come together.
extension Simulation {
    /// How long it may take, in virtual milliseconds: silence must be noticed, connections dialled, promises given up.
    static let convergenceMillisecondsMax: Int64 = 600_000

    func heal() throws {
        for node in nodes {
            if node.isLosingPower { try losePower(node) }
            node.mendDisk()
            if node.isDiskLimited { node.limitDisk(toWrites: nil) }
            node.course.run(atPercent: 100, at: now)
            try start(node)
            try wake(node)
        }
        for link in links.indices {
            links[link].isCut = false
            // What was said on a connection on which somebody lied ends with it.
            if links[link].carriesLies { try breakConnection(link) }
            links[link].damages = [0, 0]
            links[link].forgeries = [0, 0]
            links[link].lies = [0, 0]
            links[link].recordLies = [0, 0]
            links[link].delays = [0, 0]
            for side in 0...1 { try unclog(link, side: side) }
        }
        for node in nodes { try letIn(node) }
        for node in nodes { try letInOnceMore(node) }
        bridge()
        for node in nodes {
            try speakAgain(node)
            dialAgain(node)
        }
    }

    /// Where members were connected only through one that was revoked, or sends nothing, they find each other. One that sends nothing tells of the
    /// household all the same. Who does not trust its neighbour yet, because it has not heard that it is back, hears that from others.
    private func bridge() {
        let chains = [speakers, members]
        guard chains[0].count < nodes.count || links.indices.contains(where: isRefused) else { return }
        for chain in chains {
            for (one, other) in zip(chain, chain.dropFirst()) {
                link(one, other)
                if one.trusts(other), other.trusts(one) { continue }
                for node in [one, other] {
                    for third in chain where third !== node { link(node, third) }
                }
            }
        }
    }

    private func link(_ one: SimulatedNode, _ other: SimulatedNode) {
        let ends = [one.index, other.index].sorted()
        if !links.contains(where: { $0.nodes == ends }) { addLink(ends[0], ends[1]) }
    }

    func converge() throws {
        var end = now + Self.convergenceMillisecondsMax
        var hasSlept = false
        while try !(hasConverged() && haveSameRecords) {
            // What a lie has promised, and nobody brings, stores wait for, but not for good.
            if now >= end, !hasSlept, taint.reachesStores, try members.contains(where: { try $0.store?.ahead().isEmpty == false }) {
                hasSlept = true
                try sleep(hours: 24 * 8)
                for node in nodes { dialAgain(node) }
                end = now + Self.convergenceMillisecondsMax
            }
            guard now < end else {
                try checkSameRecords()
                let states = members.map { "\($0.name) \($0.summary.vector)" }.joined(separator: ", ")
                throw Violation(.noConvergence, "After \(Self.convergenceMillisecondsMax) ms without faults: \(states).")
            }
            try runEvents(until: now + 250)
        }
    }

    private func hasConverged() throws -> Bool {
        let speakers = self.speakers
        guard let first = speakers.first else { return true }
        let knowTheSame = members.allSatisfy { node in
            (isSilent(node) ? node.summary.vector.covers(first.summary.vector) : node.summary.vector == first.summary.vector)
                && (node.summary.resumption == nil || ledger.hasLosses || speakers.count < nodes.count || taint.reachesStores)
        }
        if !knowTheSame || !taint.reachesStores || mayDiffer { return knowTheSame }
        // Where a lie has made stores differ they find it out, and mend it.
        return try Set(speakers.compactMap { try $0.store?.recomputedDigest() }).count == 1
    }

    /// After a lie, rows that wait for what nobody brings are not compared, and so not mended.
    private var mayDiffer: Bool {
        taint.reachesStores
            && (ledger.hasLosses || speakers.count < nodes.count || speakers.contains { !$0.known.contexts.isEmpty })
    }

    func checkEnd() throws {
        loseWhatNobodySends()
        for node in speakers {
            guard let store = node.store else { continue }
            guard try store.summary().vector == node.summary.vector else {
                throw Violation(.wrongState, "\(node.name) does not know what it said it knows.")
            }
            if let lost = ledger.missing(in: node.known.common) {
                throw Violation(.writeLost, "\(node.name) lacks \(ledger.name(of: lost)), which was acknowledged to a user.")
            }
            // What a lost commit had begun to bring will never be complete.
            guard node.known.contexts.keys.allSatisfy(taint.covers) || ledger.hasLosses else {
                throw Violation(.noConvergence, "\(node.name) still waits for the rest of a catch-up.")
            }
            try checkRows(ledger.rows, node)
            try checkNothingElse(node)
            try checkNothingRevoked(node)
            try checkLiveQueries(node)
            // What a lost commit had begun to bring will never be complete.
            if node.known.contexts.isEmpty { try checkStated(node, isEnd: true) }
        }
        try checkHousehold()
        try checkSoundness()
        try checkDigests()
        try checkSizes()
        try checkTexts()
        try checkAside()
        try checkBootstrap(from: random.pick(speakers))
    }

    /// The records of each store agree with each other, whatever it was sent.
    func checkSoundness() throws {
        for node in nodes {
            guard let verification = try node.store?.verify() else { continue }
            guard verification.isSound else { throw Violation(.unsoundStore, "\(node.name): \(verification.problems)") }
        }
    }

    /// Rows of which some have a part of what is lost, and others do not.
    var strandedRows: Set<RowKey> {
        Set(speakers.flatMap(\.known.contexts.keys).filter { !taint.covers($0) })
    }

    /// All hold the same, what is not shown included.
    private func checkDigests() throws {
        // Of a column that an update drops, some have what others have lost.
        if !strandedRows.isEmpty || mayDiffer || !workload.tablesLosingColumns.isEmpty { return }
        let isSomeoneOut = nodes.contains(where: \.isRevoked)
        let digests = try speakers.compactMap { node in
            try node.store.map { (node, try $0.digest(), try $0.recomputedDigest()) }
        }
        for (node, kept, recomputed) in digests {
            let name = node.name
            // A store keeps no digest while it waits for what a lie has promised, or for the rest of a delta of a machine that is out.
            let mayWait = try taint.reachesStores || isSomeoneOut && node.store?.summary().resumption != nil
            guard kept == recomputed || kept == nil && mayWait else {
                throw Violation(.unsoundStore, "\(name) keeps a digest that is not that of its rows.")
            }
            guard recomputed == digests[0].2 else {
                throw Violation(.noConvergence, "\(digests[0].0.name) and \(name) know the same and hold different rows.")
            }
        }
    }

    /// No table shows a row that nobody wrote.
    private func checkNothingElse(_ node: SimulatedNode) throws {
        guard let store = node.store else { return }
        let tables = node.tables
        let reader = NodeReader(store: store, database: node.database, tables: tables)
        var expectation = Expectation(ledger, tables, node.known)
        for table in tables.indices where tables[table].isKnown && !taint.covers(table: table) {
            let expected = ledger.rows.count { $0.table == table && expectation.row($0).values != nil }
            let actual = try reader.rowCount(table)
            guard actual == expected else {
                throw Violation(.wrongState, "\(node.name) shows \(actual) rows of \(tables[table].name) instead of \(expected).")
            }
        }
    }

    /// A new node that takes everything from one of them shows the same.
    private func checkBootstrap(from source: SimulatedNode?) throws {
        guard let source, let store = source.store else { return }
        let fresh = try SimulatedNode(index: nodes.count, workload: workload, seed: script.seed)
        defer { fresh.remove() }
        guard let freshStore = fresh.store else { return }
        _ = wallClock(of: fresh)
        let delta = try store.delta(since: VersionVector())
        guard case .applied(let summary) = try freshStore.apply(delta) else {
            throw Violation(.wrongBootstrap, "A new node cannot take everything from \(source.name).")
        }
        try noteRefusals(fresh)
        var expected = source.summary.vector
        let own = try checkFolding(learnRows(of: delta, fresh), besidesUnknown: namesUnknownRows(delta), summary, fresh)
        if let own { expected.insert(own) }
        guard summary.vector == expected else {
            throw Violation(.wrongBootstrap, "A new node that takes everything from \(source.name) does not know the same.")
        }
        fresh.summary = summary
        fresh.known.advance(to: ledger.knowledge(summary.vector))
        do {
            try checkRows(ledger.rows, fresh)
            try checkNothingElse(fresh)
            try checkTexts(of: fresh, as: source, ledger.rows.filter { !taint.covers($0) })
        } catch let violation as Violation {
            throw Violation(.wrongBootstrap, "A new node that takes everything from \(source.name): \(violation.message)")
        }
        if own != nil || !strandedRows.isEmpty || mayDiffer || !workload.tablesLosingColumns.isEmpty { return }
        guard try freshStore.recomputedDigest() == store.recomputedDigest() else {
            throw Violation(
                .wrongBootstrap, "A new node that takes everything from \(source.name) shows the same, and holds something else.")
        }
    }
}
