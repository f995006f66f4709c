#if os(Linux)
import Foundation
import KithCausality
import KithNotes
import KithStore
import KithSync

extension LabRun {
    /// Compares what the nodes hold, and judges it by what was written.
    func judge(isConverged: Bool) {
        for host in hosts {
            if let failure = host.failure { findings.append(Finding(rule: .nodeFailed, sentence: failure)) }
        }
        if !isConverged { findings.append(Finding(rule: .noConvergence, sentence: disagreement)) }
        stopNodes()
        let known = state.with { $0.writes }
        for index in findings.indices where findings[index].path.isEmpty {
            if let write = findings[index].write { findings[index].path = path(of: write, known) }
        }
        let ends = hosts.compactMap(readStore)
        guard isConverged, let first = ends.first else { return }
        for end in ends where end.state != first.state {
            findings.append(
                Finding(
                    rule: .nodesDiffer, sentence: "\(end.name) and \(first.name) know the same and show or keep something different."))
        }
        for end in ends where end.digest.contradicts(first.digest) {
            findings.append(
                Finding(
                    rule: .nodesDiffer, sentence: "The stores of \(end.name) and \(first.name) know the same and have different digests."))
        }
        let (writes, ids) = state.with { ($0.writes, $0.noteIDs) }
        let oracle = Oracle(writes: writes.sorted { $0.index < $1.index }, noteIDs: ids, nodeNames: scenario.nodes.map(\.name))
        findings += oracle.findings(first.state).map { finding in
            var finding = finding
            finding.path = finding.write.map { path(of: $0, writes) } ?? []
            return finding
        }
    }

    /// What the store of a node holds, and whether it is sound; `nil` if it cannot be read, which is a finding.
    private func readStore(_ host: Host) -> (name: String, state: FinalState, digest: StoreDigest)? {
        do {
            let store = try NotesStore.open(host.notes)
            defer { try? store.close() }
            for problem in try store.store.verify().problems {
                findings.append(Finding(rule: .unsoundStore, sentence: "The store of \(host.spec.name): \(problem)"))
            }
            return (host.spec.name, try FinalState(store), try store.store.recomputedDigest())
        } catch {
            findings.append(Finding(rule: .unsoundStore, sentence: "The store of \(host.spec.name) cannot be read: \(error)"))
            unreadable.append(host.spec.name)
            return nil
        }
    }

    /// Who lacks what of whom.
    private var disagreement: String {
        let all = watcher.vectors.reduce(VersionVector()) { $0.joined(with: $1) }
        let gaps = watcher.vectors.enumerated().flatMap { node, vector in
            all.entries.filter { !vector.covers($0) }.map { entry in
                let author = watcher.owners[entry.replica].map { scenario.nodes[$0].name } ?? "somebody"
                return "\(scenario.nodes[node].name) lacks \(entry.sequence - vector[entry.replica]) commits of \(author)"
            }
        }
        let what = gaps.isEmpty ? "a write that was acknowledged is in no store" : gaps.joined(separator: ", ")
        return
            "After \(Quantity.span(Double(scenario.settleMilliseconds))) in which everything worked, the nodes did not know the same: \(what)."
    }

    /// Where a value went: its write, its arrivals, and what was written to the same note afterwards.
    private func path(of index: Int, _ writes: [WriteRecord]) -> [Finding.Station] {
        guard let write = writes.first(where: { $0.index == index }) else { return [] }
        var stations = [
            Finding.Station(
                atMilliseconds: write.endedMilliseconds, node: write.node,
                text: "wrote \u{201C}\(write.value)\u{201D} (\(write.change.kind.rawValue)) and was told that it is done")
        ]
        for hop in route(of: write)?.hops ?? [] {
            let via = hop.from == write.node ? "" : " by way of \(scenario.nodes[hop.from].name)"
            stations.append(
                .init(
                    atMilliseconds: hop.arrivedMilliseconds, node: hop.to,
                    text: "received it\(via)\(hop.isMerge ? ", and merged it with writes of its own" : "")"))
        }
        for other in writes where other.index != index && other.note == write.note && other.endedMilliseconds >= write.startedMilliseconds {
            guard other.change == .delete || other.change.kind == write.change.kind || other.cell == write.cell && write.cell != nil else {
                continue
            }
            let saw = write.dot.map { other.before.covers($0) ? "having seen it" : "without having seen it" } ?? ""
            stations.append(
                .init(
                    atMilliseconds: other.endedMilliseconds, node: other.node,
                    text: "\(other.change == .delete ? "deleted the note" : "wrote \u{201C}\(other.value)\u{201D}") \(saw)"))
        }
        for mark in marks
        where mark.kind != .start && mark.atMilliseconds >= write.startedMilliseconds && stations.contains(where: { $0.node == mark.node })
        {
            stations.append(.init(atMilliseconds: mark.atMilliseconds, node: mark.node, text: mark.text))
        }
        return stations.sorted { ($0.atMilliseconds, $0.node) < ($1.atMilliseconds, $1.node) }
    }

    private func route(of write: WriteRecord) -> Route? {
        guard let dot = write.dot else { return nil }
        let commit = LabRecord.Commit(
            atMilliseconds: watcher.commit(dot)?.atMilliseconds ?? write.endedMilliseconds, node: write.node, sequence: dot.sequence,
            write: write.index,
            arrivals: watcher.arrivals.filter { $0.dot == dot }.map {
                .init(atMilliseconds: $0.atMilliseconds, node: $0.node, isMerge: $0.isMerge)
            })
        return Route(of: commit, over: connections(until: state.nowMilliseconds))
    }

    private func connections(until end: Int64) -> [LabRecord.Connection] {
        ConnectionReader(names: scenario.nodes.map(\.name)).connections(state.with { $0.statusLines }, until: end)
    }

    // MARK: The record

    func record(started: Date, settledFrom: Int64, converged: Int64?, traffic: [(from: Int, to: Int, state: LinkState)]) -> LabRecord {
        let writes = state.with { $0.writes }
        let byDot = Dictionary(writes.compactMap { write in write.dot.map { ($0, write.index) } }) { first, _ in first }
        let arrivals = Dictionary(grouping: watcher.arrivals, by: \.dot)
        let end = converged ?? state.nowMilliseconds
        return LabRecord(
            name: scenario.name, about: scenario.about, seed: scenario.seed, started: started.formatted(.iso8601),
            lastsMilliseconds: scenario.lastsMilliseconds,
            takesMilliseconds: scenario.takesMilliseconds, settledFromMilliseconds: settledFrom, convergedMilliseconds: converged,
            endedMilliseconds: end,
            nodes: hosts.map { host in
                let version = (try? host.run(["--version"]).text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? "unknown"
                return LabRecord.Node(name: host.spec.name, address: host.address, version: version)
            },
            marks: marks,
            commits: watcher.commits.map { commit in
                LabRecord.Commit(
                    atMilliseconds: commit.atMilliseconds, node: commit.node, sequence: commit.dot.sequence, write: byDot[commit.dot],
                    arrivals: arrivals[commit.dot, default: []].map {
                        .init(atMilliseconds: $0.atMilliseconds, node: $0.node, isMerge: $0.isMerge)
                    })
            },
            writes: writes.sorted { $0.index < $1.index }.map(LabRecord.Write.init),
            connections: connections(until: end),
            traffic: traffic.map {
                .init(from: $0.from, to: $0.to, bytes: $0.state.bytes, frames: $0.state.frames, droppedFrames: $0.state.dropped)
            },
            checks: CheckList(
                nodes: hosts.count, acknowledgedWrites: writes.count { $0.outcome == .acknowledged }, isConverged: converged != nil,
                unreadable: unreadable, safetyStatements: safety?.statements, losses: losses
            ).checks(findings),
            findings: findings, remarks: remarks)
    }

    /// What was done to whom, in words.
    func describe(_ action: Scenario.Action) -> (LabRecord.Mark.Kind, node: Int, other: Int?, String)? {
        func name(_ node: Int) -> String { scenario.nodes[node].name }
        switch action {
        case .write: return nil
        case .cut(let node): return (.cut, node, nil, "\(name(node)): cable pulled")
        case .heal(let node): return (.heal, node, nil, "\(name(node)): cable plugged in")
        case .part(let pair): return (.part, pair.first, pair.second, "\(name(pair.first)) and \(name(pair.second)): path broken")
        case .join(let pair): return (.join, pair.first, pair.second, "\(name(pair.first)) and \(name(pair.second)): path mended")
        case .link(let pair, let link):
            return (.link, pair.first, pair.second, "\(name(pair.first)) and \(name(pair.second)): \(link.words)")
        case .start(let node): return (.start, node, nil, "\(name(node)): started")
        case .stop(let node): return (.stop, node, nil, "\(name(node)): stopped")
        case .kill(let node): return (.kill, node, nil, "\(name(node)): kill -9")
        case .pause(let node): return (.pause, node, nil, "\(name(node)): frozen (SIGSTOP)")
        case .resume(let node): return (.resume, node, nil, "\(name(node)): thawed (SIGCONT)")
        case .clock(let node, let offset):
            let span = Quantity.span(Double(offset.magnitude))
            return (.clock, node, nil, "\(name(node)): clock \(offset == 0 ? "right again" : "\(span) \(offset > 0 ? "ahead" : "behind")")")
        case .move(let node): return (.move, node, nil, "\(name(node)): another address")
        case .fill(let node): return (.fill, node, nil, "\(name(node)): disk full")
        case .free(let node): return (.free, node, nil, "\(name(node)): disk freed")
        case .lose(let node, let loss): return (.lose, node, nil, "\(name(node)): the file of its notes is \(loss.rawValue)")
        case .recover(let node): return (.recover, node, nil, "\(name(node)): kith recover --refill")
        }
    }
}

extension Scenario.Link {
    fileprivate var words: String {
        var words: [String] = []
        if delayMilliseconds > 0 || jitterMilliseconds > 0 {
            let jitter = jitterMilliseconds > 0 ? " to \(Quantity.span(delayMilliseconds + jitterMilliseconds))" : ""
            words.append("\(Quantity.span(delayMilliseconds))\(jitter) each way")
        }
        if lossPercent > 0 { words.append("\(lossPercent) % lost") }
        if let bitsPerSecond { words.append("\(Int(bitsPerSecond / 1_000)) kbit/s") }
        return words.isEmpty ? "as fast as it goes" : words.joined(separator: ", ")
    }
}

extension LabRecord.Write {
    init(_ write: WriteRecord) {
        let outcome =
            switch write.outcome {
            case .acknowledged: "acknowledged"
            case .unknown: "unknown"
            case .refused(let reason): reason
            }
        self.init(
            index: write.index, atMilliseconds: write.startedMilliseconds, endedMilliseconds: write.endedMilliseconds, node: write.node,
            note: write.note, kind: write.change.kind.rawValue, value: write.value, outcome: outcome)
    }
}
#endif
