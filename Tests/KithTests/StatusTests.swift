import KithTrust
import Testing

@testable import Kith

/// What a person reads when the node does not synchronise: always why, and what to do.
@Suite struct StatusTests {
    @Test func withoutDevicesItIsLocalOnlyAndSaysHowToChangeThat() {
        let status = NodeStatus(NodeStatus.Facts())
        #expect(status.state == .localOnly)
        #expect(status.remedy?.contains("kith device add") == true)
    }

    @Test func withNobodyReachableItWaitsAndSaysWhatToCheck() {
        let status = NodeStatus(facts([peer("desk")]))
        #expect(status.state == .waiting)
        #expect(status.sentence.contains("the other device"))
        #expect(status.remedy != nil)
    }

    @Test func withoutMDNSTheRemedyIsAnAddress() {
        var facts = facts([peer("desk")])
        facts.mdns = "no mDNS daemon answers"
        facts.mdnsFails = true
        #expect(NodeStatus(facts).remedy?.contains("--address") == true)
    }

    @Test func rowsOnTheirWayAreCounted() {
        var desk = peer("desk", connected: true)
        desk.rowsToReceive = 7
        let status = NodeStatus(facts([desk, peer("laptop")]))
        #expect(status.state == .syncing)
        #expect(status.sentence.contains("7"))
    }

    @Test func inSyncWithAllWhoAreConnectedItIsUpToDate() {
        var desk = peer("desk", connected: true)
        desk.isInSync = true
        var laptop = peer("laptop", connected: true)
        laptop.isInSync = true
        #expect(NodeStatus(facts([desk, laptop])).sentence == "Up to date with desk and laptop.")
        laptop.isInSync = false
        #expect(NodeStatus(facts([desk, laptop])).state == .syncing)
    }

    @Test func anObstacleOutweighsEverythingElse() {
        var facts = facts([peer("desk", connected: true)])
        facts.obstacle = "The disk is full."
        let status = NodeStatus(facts)
        #expect(status.state == .stalled)
        #expect(status.sentence.contains("The disk is full."))
        #expect(status.remedy != nil)
    }

    @Test func anObstacleGoesWhenWhatItStoodInTheWayOfSucceeds() {
        let board = StatusBoard()
        board.runs(true)
        board.obstacle("The disk is full.", to: .flushing)
        board.obstacle("The database is locked.", to: .reading)
        board.obstacle(nil, to: .reading)
        #expect(board.current.sentence.contains("The disk is full."))
        board.obstacle(nil, to: .flushing)
        #expect(board.current.state == .localOnly)
    }

    @Test func eachStateHasItsSentenceAndWhateverIsNotWellItsRemedy() {
        typealias Case = (HouseholdStanding, peers: [NodeStatus.Peer], isDialling: Bool, obstacle: String?, NodeStatus.State, String)
        var (syncing, level) = (peer("desk", connected: true), peer("desk", connected: true))
        syncing.rowsToSend = 3
        level.isInSync = true
        let cases: [Case] = [
            (.alone, [], false, nil, .localOnly, "Local only"),
            (.removed, [], false, nil, .localOnly, "was removed from its household"),
            (.left, [], false, nil, .localOnly, "has left its household"),
            (.member, [], false, nil, .localOnly, "no other device is in the household"),
            (.member, [peer("desk")], false, nil, .waiting, "the other device cannot be reached"),
            (.member, [peer("desk"), peer("attic")], false, nil, .waiting, "none of 2 devices"),
            (.listed, [peer("desk")], true, nil, .connecting, "Connecting"),
            (.joining, [peer("desk")], false, nil, .waiting, "joins a household"),
            (.member, [syncing], false, nil, .syncing, "3 rows"),
            (.member, [peer("desk", connected: true)], false, nil, .syncing, "with desk"),
            (.member, [level], false, nil, .upToDate, "Up to date with desk"),
            (.member, [level], false, "The disk is full.", .stalled, "The disk is full."),
        ]
        for (standing, peers, isDialling, obstacle, state, words) in cases {
            var facts = facts(peers)
            (facts.standing, facts.isDialling, facts.obstacle) = (standing, isDialling, obstacle)
            let status = NodeStatus(facts)
            #expect(status.state == state, "\(status.sentence)")
            #expect(status.sentence.contains(words) && status.sentence.hasSuffix("."), "\(status.sentence)")
            #expect((status.remedy != nil) == [.localOnly, .waiting, .stalled].contains(state), "\(status.sentence)")
            // Whatever it is about, a node that was stopped does nothing of it.
            facts.isRunning = false
            #expect(NodeStatus(facts).state == .stopped)
        }
        #expect(Set(cases.map { $0.4 }) == Set(NodeStatus.State.allCases).subtracting([.stopped]))
        #expect(Set(cases.map { $0.0 }) == Set(HouseholdStanding.allCases))
    }

    private func facts(_ peers: [NodeStatus.Peer]) -> NodeStatus.Facts {
        var facts = NodeStatus.Facts()
        facts.peers = peers
        return facts
    }

    private func peer(_ name: String, connected: Bool = false) -> NodeStatus.Peer {
        var peer = NodeStatus.Peer(deviceID: "ABCDE", name: name)
        peer.state = connected ? .connected : .notReachable
        return peer
    }
}
