import Foundation
import KithTrust
import TestSupport
import Testing

@testable import Kith

/// Risk: an app that wants to say in its own words why nothing is synchronised has only Kith's sentences, or people of an app are told to
/// run commands that they do not have.
@Suite(.timeLimit(.minutes(2))) struct ReasonTests {
    static let all: [NodeStatus.Reason] = [
        .notRunning, .runsElsewhere, .cannotRun("Port 4747 is taken."), .storeFails("The disk is full."), .noDevice, .noOtherMember,
        .removed, .left, .joining, .ownKeyTwice(at: "10.0.0.2"), .keyTwice(device: "desk", at: ["a", "b"]), .unproven(of: ["laptop"]),
        .unproven(of: []), .noNetwork(cards: ["eth0"]), .noNetwork(cards: []), .refused(by: ["desk"]),
        .notReachable(devices: 1, withoutDiscovery: nil), .notReachable(devices: 2, withoutDiscovery: "no daemon"),
        .silent(milliseconds: 65_000),
    ]

    @Test(arguments: all) func `no command of the command line is named in an app`(reason: NodeStatus.Reason) {
        for words in [reason.sentence, reason.remedy ?? ""] {
            #expect(!words.contains("`") && !words.contains("kith ") && !words.lowercased().contains("your notes"), "\(words)")
        }
        #expect(reason.sentence.hasSuffix("."))
    }

    @Test(arguments: DiagnosisFinding.Advice.allCases) func `nor in what to do about a finding`(advice: DiagnosisFinding.Advice) {
        #expect(!advice.sentence.contains("`") && !advice.sentence.contains("kith ") && advice.sentence.hasSuffix("."))
    }

    @Test(arguments: all) func `a status travels with its reason and without one that is not known`(reason: NodeStatus.Reason) throws {
        let status = NodeStatus(state: reason.state, reason: reason, sentence: reason.sentence, port: 1, mdns: "running", peers: [])
        let json = try JSONEncoder().encode(status)
        #expect(try JSONDecoder().decode(NodeStatus.self, from: json) == status)
        var object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        object["reason"] = ["ofTomorrow": [:]]
        let later = try JSONDecoder().decode(NodeStatus.self, from: JSONSerialization.data(withJSONObject: object))
        #expect(later.reason == nil && later.sentence == status.sentence && later.remedy == status.remedy)
    }

    @Test func `times are kept over a restart`() async throws {
        let folder = try TemporaryFolder()
        let laptop = try await SyncedApp.open(Pantry.app, migrator: Pantry.migrator, tables: Pantry.tables, at: .inMemory)
        let first = try Pantry.open(in: folder.url)
        try first.add("Milk")
        try first.introduce(to: laptop)
        first.start()
        laptop.start()
        try await first.until { first.status.peers.first?.isInSync == true }
        let synced = try #require(first.status.peers.first?.lastSync)
        #expect(first.status.peers.first?.device == laptop.trust.ownID)
        await laptop.stop()
        try await first.until { first.status.peers.first?.lastError != nil }
        let error = first.status.peers.first?.lastError
        // Whose words they are.
        #expect(error?.hasPrefix("It says: \u{201C}") == true, "\(error ?? "")")
        try await first.close()

        let second = try Pantry.open(in: folder.url)
        let peer = try #require(second.status.peers.first)
        #expect(second.status.state == .stopped && second.status.reason == .notRunning)
        #expect(peer.lastSync == synced)
        #expect(peer.lastError == error && peer.isErrorFromBefore == true && peer.lastErrorTime != nil)
        // What is known of a connection is not.
        #expect(peer.state == .notReachable && !peer.isInSync)
        second.start()
        laptop.start()
        try await second.until { second.status.state == .upToDate }
        #expect(second.status.peers.first?.lastError == nil && second.status.reason == nil)
        await laptop.stop()
        try await second.close()
    }

    @Test func `a port is known before anybody is trusted`() async throws {
        let folder = try TemporaryFolder()
        let app = try Pantry.open(in: folder.url) { options in
            options.isInProcess = false
            options.usesDiscovery = false
            options.port = 0
        }
        let port = try await app.node.port()
        #expect(port > 0 && app.status.port == nil)
        // It is the one that is listened to.
        try app.trust.add(TrustedDevice(id: DeviceKey().id, name: "desk", added: Date()))
        app.start()
        try await app.until { app.status.port != nil }
        #expect(app.status.port == port)
        #expect(try await app.node.port() == port)
        try await app.close()
    }

    @MainActor @Test func `an observed status follows the node`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        let monitor = NodeMonitor(phone)
        #expect(monitor.status.reason == .notRunning)
        phone.start()
        laptop.start()
        while monitor.status.state != .upToDate { try await Task.sleep(for: .milliseconds(5)) }
        await phone.stop()
        while monitor.status.reason != .notRunning { try await Task.sleep(for: .milliseconds(5)) }
        await laptop.stop()
    }
}
