import KithCausality
import KithStore
import KithSync

/// Files of slices that are carried by hand: a link that is as late as people are, brings things twice and in any order, and loses them.
extension Simulation {
    /// A node writes what the target, or everybody, was heard to lack.
    func carryOut(_ node: SimulatedNode, _ stick: Int, to target: SimulatedNode?) throws {
        // What a file keeps of a commit that all machines have lost is no loss, and whether it is read in time is left open.
        guard let store = node.store, node.isAwake, target !== node, !script.setsBack else { return }
        let made = wallClock(of: node)
        do {
            try flush(node, node.generation)
            guard node.isAwake, let frames = try carriedFrames(of: node, store, to: target) else { return }
            sticks.put(Sticks.File(writer: node.index, target: target?.index, madeMilliseconds: made, frames: frames), on: stick)
        } catch  where excuses(error, node) {
            try checkUnchanged(node)
        }
    }

    private func carriedFrames(of node: SimulatedNode, _ store: SyncedDatabase, to target: SimulatedNode?) throws -> [[UInt8]]? {
        let targets = target.map { [$0] } ?? nodes.filter { $0 !== node && !$0.isRevoked }
        let since = try store.acknowledged(by: targets.map(\.device))
        do {
            var writer = try CarryWriter(carryConfiguration(of: node), try store.summary())
            var frames = try writer.greeting(durable: node.durable, wallClockMilliseconds: node.clock.milliseconds)
            _ = try writer.delta(
                since: since, ahead: try store.ahead(),
                read: { request in
                    let slice = try store.slice(request, limits: SliceLimits(script.conditions))
                    try checkRead(slice, node)
                    return slice
                }, put: { frames.append($0) })
            return frames
        } catch let reason as CloseReason {
            guard taint.reachesStores else {
                throw Violation(.unjustAccusation, "\(node.name) carries nothing out (\(reason.code)): \(reason.message)")
            }
            return nil
        }
    }

    private func carryConfiguration(of node: SimulatedNode, peer: SimulatedNode? = nil) -> PeerSession.Configuration {
        var configuration = PeerSession.Configuration(app: "simulation", group: Array("simulation".utf8), software: "KithTesting")
        configuration.capabilities = []
        configuration.proofs = node.proofs
        configuration.peerDevice = peer?.device
        return configuration
    }

    /// A node reads what lies on a stick, but for its own files and those of machines of which it has heard that they are out.
    func carryIn(_ node: SimulatedNode, _ stick: Int) throws {
        for (file, frameCount) in sticks.read(stick) {
            guard node.isAwake, file.writer != node.index, revokedContents.mayMeet(node.index, file.writer) else { continue }
            note(.stick)
            statistics.filesCarried += 1
            do {
                try read(file, upTo: frameCount, node)
            } catch  where excuses(error, node) {
                if node.isWithoutPower { return try losePower(node) }
                try checkUnchanged(node)
            } catch let error as StoreError where error.code == .sliceRejected && taint.reachesStores {
                trace.note(now, "\(node.name) refuses a file: \(error.message)")
            }
        }
    }

    private func read(_ file: Sticks.File, upTo frameCount: Int, _ node: SimulatedNode) throws {
        guard let store = node.store else { return }
        _ = wallClock(of: node)
        let writer = nodes[file.writer]
        var isNoted = false
        let perform: (PeerSession.Effect) throws -> PeerSession.Input? = { [self] effect in
            switch effect {
            case .apply(let slice, _): return .applied(try applyCarried(slice, store, node, from: writer))
            case .verifyIdentity(let claim): return .identity(try renamed(node) { _ = try store.verifyIdentity(claim) })
            case .renewIdentity: return .identity(try renamed(node) { _ = try store.renewIdentity(from: node.summary.replica) })
            case .peer(let status):
                // The first status says what was proven before; what the file proves counts from the second on.
                if isNoted, !taint.hasLies, !node.isRevoked {
                    try store.noteMember(
                        writer.device, replica: status.replica, vector: status.vector, durable: status.durable,
                        madeMilliseconds: file.madeMilliseconds)
                }
                isNoted = true
                return nil
            case .send, .readSlice, .attachment, .household, .digest, .close: return nil
            }
        }
        let configuration = carryConfiguration(of: node, peer: writer)
        var reader = try CarryReader(
            configuration, try store.summary(), wallClockMilliseconds: node.clock.milliseconds, perform)
        for frame in file.frames.prefix(frameCount) where reader.reason == nil { try reader.read(frame, perform) }
        guard let reason = reader.reason, reason.code != .identityChanged, !taint.reachesStores else { return }
        throw Violation(.unjustAccusation, "\(node.name) refuses a file of \(writer.name) (\(reason.code)): \(reason.message)")
    }

    private func applyCarried(
        _ slice: Slice, _ store: SyncedDatabase, _ node: SimulatedNode, from writer: SimulatedNode
    ) throws -> ApplyOutcome {
        for probe in node.probes { probe.reset() }
        let outcome = try store.apply(slice, from: writer.device)
        statistics.applies += 1
        switch outcome {
        case .applied(let summary):
            try checkApplied(slice, summary, node)
            try checkTaken(node, from: writer)
            try checkLiveQueries(node)
            storeMoved(node, isForeign: true)
        case .refused(let summary), .incomplete(let summary):
            guard summary.vector == node.summary.vector else {
                throw Violation(.wrongState, "\(node.name) refused a slice of a file and yet its vector moved.")
            }
        }
        return outcome
    }

    /// The store has said who it is.
    private func renamed(_ node: SimulatedNode, _ body: () throws -> Void) throws -> StoreSummary {
        guard let store = node.store else { return node.summary }
        try body()
        let before = node.summary
        node.summary = try store.summary()
        guard node.summary.vector.covers(before.vector), node.summary.clock >= before.clock else {
            throw Violation(.vectorWentBack, "\(node.name) takes another replica id and goes from \(before) to \(node.summary).")
        }
        hearNews(of: node)
        return node.summary
    }
}
