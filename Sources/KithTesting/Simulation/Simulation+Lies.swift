import KithCausality
import KithStore
import KithSync

/// Members that lie on purpose, and what of that no store may believe.
extension Simulation {
    /// The machine on this side, which says from now on whatever it likes. Its store knows nothing of it.
    func liar(_ end: EndID) throws -> Liar? {
        let node = node(of: end)
        guard let store = node.store, let book = node.proofs, !node.isAsleep else { return nil }
        let authority = SimulatedAuthority(device: node.device)
        let truth = try store.delta(since: VersionVector())
        let replica = Liar.replica(authority)
        let proofs = truth.vector.entries.filter { $0.replica != replica }.compactMap { try? book.proof(of: $0) }
        node.lies += 1
        taint.add(liar: ledger.number(of: replica))
        let peer = self.node(of: end.other).summary
        // The peer may hear, before the lie arrives, what any machine has said of who is out.
        let closed = proofs.filter { proof in
            let id = SimulatedAuthority.id(of: proof.origin.key)
            return nodes.contains {
                ($0.household?.roundsEnded(of: id) ?? 0) > 0
                    || $0.authority.id == id && household?.doomed.contains($0.index) == true
            }
        }
        return Liar(
            random: SplitMix64(seed: hostility.next()), authority: authority, truth: truth, proofs: proofs,
            closed: Set(closed.map(\.origin.key)), peer: peer.replica,
            known: peer.vector, next: node.lies)
    }

    /// What a liar says ahead of a frame of its store.
    func lies(aheadOf bytes: [UInt8], _ end: EndID) throws -> [[UInt8]] {
        guard links[end.link].lies[end.side] > 0 || links[end.link].recordLies[end.side] > 0 else { return [] }
        switch try? FrameCodec.decode(bytes) {
        case .hello, .heads, .goodbye, nil: return []
        default: break
        }
        let records = recordLies(end)
        if !records.isEmpty { return records }
        guard links[end.link].lies[end.side] > 0, var liar = try liar(end) else { return [] }
        let frames = liar.frames()
        if frames.isEmpty { return [] }
        links[end.link].lies[end.side] -= 1
        note(.forgery)
        return frames.map { FrameCodec.encode($0) }
    }

    /// A lie arrives. What every store must refuse puts nothing in doubt.
    func noteLie(_ lies: [[UInt8]], _ end: EndID) {
        statistics.framesAltered += lies.count
        if case .household = try? FrameCodec.decode(lies[0]) { return links[end.link].recordsLiedEpoch = end.epoch }
        (links[end.link].damagedEpoch, links[end.link].liedEpoch) = (end.epoch, end.epoch)
        for bytes in lies {
            guard case .slice(let slice, _) = try? FrameCodec.decode(bytes) else { continue }
            if mustRefuse(slice, node(of: end)) {
                taint.insertRefused()
            } else {
                taint.insert(madeUp: slice, takesListing: takesListing(of: slice, node(of: end)), to: node(of: end).known.common, ledger)
            }
        }
    }

    /// Whether the slice names commits that no replica has made.
    private func mustRefuse(_ slice: Slice, _ node: SimulatedNode) -> Bool { ledger.unmade(in: slice.claimedVectors, taint) != nil }

    /// Whether the store may have a reason to believe the slice what was deleted long ago.
    private func takesListing(of slice: Slice, _ node: SimulatedNode) -> Bool {
        guard let listing = slice.listing, !node.summary.vector.covers(listing.floor) else { return false }
        return script.maySilenceMembers || isAlone(node)
    }

    /// Whether the node knows no commits but its own.
    private func isAlone(_ node: SimulatedNode) -> Bool {
        ledger.commit(of: Set(nodes.indices).subtracting([node.index]), in: node.known.common, beyond: Knowledge()) == nil
    }

    // MARK: Listings

    /// A store that comes to a household may have missed deletions: it hears of them once. From then on it was always there.
    func catchUp(_ node: SimulatedNode) throws {
        guard let store = node.store else { return }
        var slice = try store.delta(since: VersionVector())
        let replica = Liar.replica(SimulatedAuthority(device: node.device))
        taint.add(liar: ledger.number(of: replica))
        slice.listing = Listing(after: nil, floor: VersionVector([Dot(replica: replica, sequence: 1)]))
        _ = try store.apply(slice, from: node.device)
        node.summary = try store.summary()
    }

    // MARK: What must hold

    /// Each commit that a store has taken over by name is one that a replica has made.
    func checkMade(_ slice: Slice, _ node: SimulatedNode) throws {
        guard taint.hasLies, let event = ledger.unmade(in: slice.claimedVectors, taint) else { return }
        throw Violation(
            .vectorClaimsUnknown, "\(node.name) takes a slice that names \(ledger.name(of: event)), which was not made.")
    }

    /// What a node shows, where that is not judged by what its users wrote; `nil` as long as everything is.
    func shown(by node: SimulatedNode) throws -> [ShownRow]? {
        guard taint.reachesStores, let store = node.store else { return nil }
        let reader = NodeReader(store: store, database: node.database, tables: node.tables)
        let keys = ledger.rows.filter { !workload.tables[$0.table].isRelated && !workload.tablesLosingColumns.contains($0.table) }
        let rows = zip(keys, try reader.values(of: keys)).compactMap { key, values in values.map { (key, $0) } }
        return zip(rows, try reader.alternatives(of: rows.map(\.0))).map { row, alternatives in
            ShownRow(key: row.0, values: row.1, contested: Set(alternatives.map(\.column)))
        }
    }

    /// A slice, or what a peer had to mend with, has taken away nothing that was shown: it is shown still, or in the trash.
    func checkKept(_ before: [ShownRow]?, _ slice: Slice?, _ node: SimulatedNode) throws {
        guard let before, let store = node.store else { return }
        let reader = NodeReader(store: store, database: node.database, tables: node.tables)
        var gone: [ShownRow] = []
        for (row, values) in zip(before, try reader.values(of: before.map(\.key))) where node.tables[row.key.table].isKnown {
            if let values { try checkKept(row, values, slice, node) } else { gone.append(row) }
        }
        if gone.isEmpty { return }
        let (trash, refused) = (try store.trash(max: Int(Int32.max)), try store.refusedRows())
        for row in gone {
            let table = node.tables[row.key.table]
            let id = table.id(of: row.key.row)
            // The trash may still hold what an earlier lie took away.
            if refused.contains(where: { $0.table == table.name && $0.id == id }) { continue }
            guard let trashed = trash.first(where: { $0.table == table.name && $0.id == id }) else {
                throw Violation(.shownLost, "\(table.name) \(row.key.row) of \(node.name) is not shown any more, and not in the trash.")
            }
            let values = table.columns.map { column in trashed.values[column.name].map { reader.normal($0, column) } }
            try checkKept(row, values, slice, node, isInTrash: true)
        }
        for table in Set(gone.map(\.key.table)).sorted() {
            let (count, total) = (gone.count { $0.key.table == table }, before.count { $0.key.table == table })
            try checkTold(count, of: total, workload.tables[table].name, node)
        }
    }

    /// What the slice says nothing about is as it was; so is, in the trash, a value in whose place nobody has written another. `nil` stands for
    /// a column of which the trash says nothing, because no replica wrote it.
    private func checkKept(
        _ row: ShownRow, _ values: [ColumnValue?], _ slice: Slice?, _ node: SimulatedNode, isInTrash: Bool = false
    ) throws {
        guard let slice else { return }
        let table = node.tables[row.key.table]
        let spoken = cells(of: row.key, in: slice)
        for (index, column) in table.columns.enumerated() where column.isKnown {
            guard let now = values[index], now != row.values[index] else { continue }
            if let cell = spoken[column.name] {
                guard isInTrash, case .register(let state) = cell, knows(state, row.key, node) else { continue }
            } else if !isInTrash, row.contested.contains(column.name) || isOfSeveral(row.key, index, node) {
                // Who says that he knows one of several values, and holds it no more, has overwritten it: another one is shown. So it is with
                // what one of several has put into a set.
                continue
            }
            throw Violation(
                .shownLost,
                """
                \(node.name) \(isInTrash ? "keeps in the trash" : "shows") \(column.name) of \(table.name) \(row.key.row) as \
                \(describe([now])), in whose place it was told nothing: it was \(describe([row.values[index]])).
                """)
        }
    }

    /// Whether the column is a set into which several commits have put something, as far as the node knows.
    private func isOfSeveral(_ key: RowKey, _ column: Int, _ node: SimulatedNode) -> Bool {
        guard case .set(_, let touched) = ledger.view(key, seenBy: node.known.of(key)).columns[column] else { return false }
        return touched.count > 1
    }

    /// Whether the node has heard of all that is held.
    private func knows(_ state: RegisterState, _ key: RowKey, _ node: SimulatedNode) -> Bool {
        let known = node.known.of(key)
        return state.writes.map(\.stamp.dot).allSatisfy {
            known.covers(EventID(replica: ledger.number(of: $0.replica), sequence: $0.sequence))
        }
    }

    /// Fewer rows may go without a word.
    private static let lossRowsMin = 50

    /// So many rows of a table have gone.
    private func checkTold(_ count: Int, of total: Int, _ table: String, _ node: SimulatedNode) throws {
        guard count >= Self.lossRowsMin, 3 * count > total, let store = node.store else { return }
        guard try !store.massDeletions().contains(where: { $0.table == table }) else { return }
        throw Violation(.lossUntold, "\(count) of \(total) rows of \(table) go from \(node.name), and its user is not told.")
    }

    /// What a slice says of the columns of a row, by their names.
    private func cells(of key: RowKey, in slice: Slice) -> [String: Cell] {
        var cells: [String: Cell] = [:]
        for row in slice.rows where ledger.table(slice.tables[row.table].name) == key.table && ledger.key(key.table, row.id) == key {
            let columns = slice.tables[row.table].columns
            for entry in row.state.cells { cells[String(decoding: columns[entry.column].name, as: UTF8.self)] = entry.cell }
        }
        return cells
    }
}

/// A row as a node showed it.
struct ShownRow {
    let key: RowKey
    let values: [ColumnValue]
    /// The columns that had alternatives.
    let contested: Set<String>
}

extension Slice {
    /// All that it names of commits.
    fileprivate var claimedVectors: [VersionVector] {
        [since, vector, targetVector, listing?.floor ?? VersionVector()] + rows.flatMap { [$0.state.clock, $0.state.context] }
    }
}
