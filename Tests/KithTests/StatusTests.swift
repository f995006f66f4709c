import Foundation
import KithCausality
import KithStore
import KithTrust
import Testing

@testable import Kith
@testable import KithSync

/// What a person reads when the node does not synchronise: always why, and what to do.
@Suite struct StatusTests {
    @Test func `without devices it is local only and says how to change that`() {
        let status = NodeStatus(NodeStatus.Facts())
        #expect(status.state == .localOnly)
        #expect(status.reason == .noDevice && status.remedy?.contains("pair this device") == true)
    }

    @Test func `with nobody reachable it waits and says what to check`() {
        let status = NodeStatus(facts([peer("desk")]))
        #expect(status.state == .waiting)
        #expect(status.sentence.contains("the other device"))
        #expect(status.remedy != nil)
    }

    @Test func `without mDNS the remedy is an address`() {
        var facts = facts([peer("desk")])
        facts.mdns = "no mDNS daemon answers"
        facts.mdnsFails = true
        #expect(NodeStatus(facts).reason == .notReachable(devices: 1, withoutDiscovery: "no mDNS daemon answers"))
        #expect(NodeStatus(facts).remedy?.contains("give an address") == true)
        // An error from before the node was started says nothing of now.
        (facts.peers[0].lastError, facts.peers[0].isErrorFromBefore) = ("It broke.", true)
        #expect(NodeStatus(facts).reason == .notReachable(devices: 1, withoutDiscovery: "no mDNS daemon answers"))
        facts.peers[0].isErrorFromBefore = nil
        #expect(NodeStatus(facts).reason == .notReachable(devices: 1, withoutDiscovery: nil))
    }

    @Test func `what keeps a machine apart is named`() {
        var offline = facts([peer("desk")])
        (offline.isOffline, offline.cutLinks) = (true, ["eth0"])
        #expect(NodeStatus(offline).sentence == "Waiting: this machine is connected to no network (eth0).")
        #expect(NodeStatus(offline).remedy?.contains("cable") == true)
        var refused = facts([peer("desk"), peer("attic")])
        for index in refused.peers.indices { refused.peers[index].isRefused = true }
        #expect(NodeStatus(refused).sentence == "Refused: desk and attic refuse this device.")
        #expect(NodeStatus(refused).reason == .refused(by: ["desk", "attic"]))
        refused.peers[0].isRefused = nil
        #expect(NodeStatus(refused).sentence.contains("none of 2 devices"))
        var twin = facts([peer("desk", connected: true)])
        twin.twin = "10.0.0.2"
        #expect(NodeStatus(twin).sentence == "This device's key is in use on two machines: this one and another at 10.0.0.2.")
        #expect(NodeStatus(twin).reason == .ownKeyTwice(at: "10.0.0.2"))
    }

    @Test func `devices of one name are told apart`() throws {
        let devices = try ["laptop", "laptop", "desk", ""].map {
            try TrustedDevice(id: DeviceKey().id, name: $0, added: Date(timeIntervalSince1970: 0))
        }
        let names = DeviceNames(devices)
        #expect(names[devices[0].id] == "laptop (\(devices[0].id.description.prefix { $0 != "-" }))")
        #expect(names[devices[0].id] != names[devices[1].id])
        #expect(names[devices[2].id] == "desk")
        #expect(names[devices[3].id] == devices[3].id.shortDescription)
        #expect(names[Author.own] == "this device" && names[Author.unknown] == nil)
        #expect(names[Author.device(Array(devices[2].id.bytes))] == "desk")
    }

    @Test func `a node that does not move is not called up to date`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kith-status-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = StatusFile(forStore: folder.appending(path: "notes.sqlite"))
        var desk = peer("desk", connected: true)
        desk.isInSync = true
        try file.write(NodeStatus(facts([desk])))
        #expect(file.read()?.state == .upToDate)
        let mode = try FileManager.default.attributesOfItem(atPath: file.url.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -65)], ofItemAtPath: file.url.path)
        #expect(file.read()?.state == .stalled)
        #expect(file.read()?.sentence.contains("Not responding: nothing was heard of the node for 65 s") == true)
        #expect(file.read()?.peers.allSatisfy { !$0.isInSync && $0.state == .notReachable } == true)
    }

    @Test func `rows on their way are counted`() {
        var desk = peer("desk", connected: true)
        desk.rowsToReceive = 7
        let status = NodeStatus(facts([desk, peer("laptop")]))
        #expect(status.state == .syncing)
        #expect(status.sentence.contains("7"))
    }

    @Test func `in sync with all who are connected it is up to date`() {
        var desk = peer("desk", connected: true)
        desk.isInSync = true
        var laptop = peer("laptop", connected: true)
        laptop.isInSync = true
        #expect(NodeStatus(facts([desk, laptop])).sentence == "Up to date with desk and laptop.")
        laptop.isInSync = false
        #expect(NodeStatus(facts([desk, laptop])).state == .syncing)
    }

    @Test func `an obstacle outweighs everything else`() {
        var facts = facts([peer("desk", connected: true)])
        facts.obstacle = "The disk is full."
        let status = NodeStatus(facts)
        #expect(status.state == .stalled)
        #expect(status.sentence.contains("The disk is full."))
        #expect(status.remedy != nil)
    }

    @Test func `a store that cannot prove what it holds says whose it is, and what ends that`() {
        var facts = facts([peer("desk", connected: true)])
        facts.unproven = ["laptop"]
        let status = NodeStatus(facts)
        #expect(status.state == .stalled)
        #expect(status.sentence == "Only receiving: this store is a copy of one of laptop, with changes that were never signed there.")
        #expect(status.reason == .unproven(of: ["laptop"]) && status.remedy?.contains("remove it from the household") == true)
        facts.unproven = []
        #expect(NodeStatus(facts).sentence.contains("a copy of one of another device"))
    }

    @Test func `an obstacle goes when what it stood in the way of succeeds`() {
        let board = StatusBoard()
        board.runs(true)
        board.obstacle("The disk is full.", to: .flushing)
        board.obstacle("The database is locked.", to: .reading)
        board.obstacle(nil, to: .reading)
        #expect(board.current.sentence.contains("The disk is full."))
        board.obstacle(nil, to: .flushing)
        #expect(board.current.state == .localOnly)
    }

    /// The board of a running node that trusts one device, and a session with that.
    private static func boardOfTwo() throws -> (TestNode, DeviceID, SessionRouter.SessionID, StatusBoard) {
        let (node, other) = (try TestNode(), try TestNode())
        try node.trust(other)
        var router = SessionRouter()
        let board = StatusBoard()
        board.runs(true)
        board.trust(node.trust)
        return (node, other.key.id, router.open(), board)
    }

    @Test func `what the store could not do in a session stands until it is known to work, or the device cannot be met`() throws {
        let (node, device, session, board) = try Self.boardOfTwo()
        func fail() {
            board.connected(device, by: session, address: nil)
            board.disconnected(device, nil, obstacle: "The disk is full.")
            #expect(board.current.reason == .storeFails("The disk is full."))
            board.connected(device, by: session, address: nil)
            #expect(board.current.reason == .storeFails("The disk is full."))
        }
        fail()
        board.disconnected(device, "The connection was lost.")
        #expect(board.current.reason != .storeFails("The disk is full."))
        fail()
        board.failed(device, "Nothing answers.")
        #expect(board.current.reason != .storeFails("The disk is full."))
        fail()
        try node.trust.remove(device)
        board.trust(node.trust)
        #expect(board.current.state == .localOnly)
    }

    @Test func `a device that answered and is about to join is not called out of reach until it does not answer`() throws {
        let (_, device, session, board) = try Self.boardOfTwo()
        let start = Instant(milliseconds: 1_000)
        func meet(returnsAt end: Instant?) -> NodeStatus.State {
            board.connected(device, by: session, address: nil)
            board.disconnected(device, nil, returnsAt: end)
            return board.current.state
        }
        #expect(meet(returnsAt: nil) == .waiting)
        #expect(meet(returnsAt: start) == .connecting)
        board.failed(device, "Nothing answers.")
        #expect(board.current.state == .waiting)
        #expect(meet(returnsAt: start) == .connecting)
        #expect(meet(returnsAt: nil) == .waiting)
        #expect(meet(returnsAt: start) == .connecting)
        board.runs(false)
        board.runs(true)
        #expect(board.current.state == .waiting)
        // Its announcement may end, so that nobody dials it.
        #expect(meet(returnsAt: start) == .connecting)
        board.passTime(start.advanced(byMilliseconds: -1))
        #expect(board.current.state == .connecting)
        board.passTime(start)
        #expect(board.current.state == .waiting)
    }

    /// Whoever cancels a task holds a lock of it, which whoever wakes it waits for.
    @Test func `readers that are cancelled while there is something to tell hold nobody up`() async {
        let board = StatusBoard()
        let events = EventBoard()
        for _ in 0..<5_000 {
            let readers = [Task { for await _ in board.statuses {} }, Task { for await _ in events.events {} }]
            while board.readerCount == 0 || events.readerCount == 0 { await Task.yield() }
            let teller = Task.detached {
                for port in 0..<5 {
                    board.willListen(on: port)
                    events.note(.conflict)
                }
            }
            for reader in readers { reader.cancel() }
            for task in readers + [teller] { await task.value }
        }
        #expect(board.readerCount == 0 && events.readerCount == 0)
    }

    @Test func `a status is written into the file that is there when there is no room for another one`() throws {
        let node = try TestNode()
        let file = node.folder.appending(path: "status.json")
        try PrivateText.write(Data(repeating: 49, count: 100), to: file)
        #expect(PrivateText.overwrite(file, with: Data("short".utf8)))
        #expect(try Data(contentsOf: file) == Data("short".utf8) + Data(repeating: 32, count: 95))
        #expect(!PrivateText.overwrite(file, with: Data(repeating: 50, count: 1 << 20)))
        #expect(try Data(contentsOf: file).count == 100)
        #expect(!PrivateText.overwrite(node.folder.appending(path: "none"), with: Data()))
        mkfifo(node.folder.appending(path: "pipe").path, 0o600)
        #expect(!PrivateText.overwrite(node.folder.appending(path: "pipe"), with: Data()))
        try FileManager.default.createSymbolicLink(at: node.folder.appending(path: "link"), withDestinationURL: file)
        #expect(!PrivateText.overwrite(node.folder.appending(path: "link"), with: Data()))
    }

    @Test func `what a session says that gave way, or has ended, does not count`() throws {
        let (node, other) = (try TestNode(), try TestNode())
        try node.trust(other)
        let (board, device) = (StatusBoard(), other.key.id)
        board.runs(true)
        board.trust(node.trust)
        var router = SessionRouter()
        let (old, new) = (router.open(), router.open())
        let vector = VersionVector()
        let level = PeerStatus(
            replica: try other.store.summary().replica, software: "", protocolVersion: 1, vector: vector, durable: vector, rowsSent: 0,
            rowsReceived: 0, rowsToSend: 0, rowsToReceive: 0, isInSync: true, rowsMended: 0, mended: [])
        func isInSync() -> Bool? { board.current.peers.first?.isInSync }
        board.connected(device, by: old, address: nil)
        _ = board.progress(device, level, of: old)
        #expect(isInSync() == true)
        board.connected(device, by: new, address: nil)
        _ = board.progress(device, level, of: old)
        #expect(isInSync() == false)
        _ = board.progress(device, level, of: new)
        #expect(isInSync() == true)
        board.disconnected(device, nil)
        _ = board.progress(device, level, of: new)
        #expect(isInSync() == false)
    }

    @Test func `each state has its sentence and whatever is not well its remedy`() {
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
            #expect((status.reason == nil) == (status.remedy == nil))
            // Whatever it is about, a node that was stopped does nothing of it.
            facts.isRunning = false
            #expect(NodeStatus(facts).state == .stopped && NodeStatus(facts).reason == .notRunning)
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
