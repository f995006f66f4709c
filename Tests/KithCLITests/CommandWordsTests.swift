import Foundation
import KithReport
import Testing

@testable import Kith
@testable import KithCLI

/// Risk: `kith status` and `kith up` no longer name the command that helps.
@Suite struct CommandWordsTests {
    private func words(_ reason: NodeStatus.Reason) -> String {
        NodeStatus(state: .waiting, reason: reason, sentence: "", port: nil, mdns: "", peers: []).inCommands.remedy ?? ""
    }

    @Test func `each reason is followed by the command that helps`() {
        let cases: [(NodeStatus.Reason, String)] = [
            (
                .noDevice,
                "To synchronise, run `kith pair` on both machines, or `kith device add ID` with the id that `kith device id` shows on the other."
            ),
            (.noOtherMember, "To synchronise, run `kith pair` on both machines."),
            (
                .removed,
                "Your notes are all here. To come back, run `kith pair` here and on a device of the household; to stay alone, `kith household leave`."
            ),
            (
                .left,
                "Your notes are all here. The others hear of it as soon as one of them is reached; to come back, run `kith pair` here and on one of them."
            ),
            (.joining, "Let `kith up` run on the device that it was paired with; it joins by itself when they meet."),
            (
                .ownKeyTwice(at: "h"),
                "Run `kith device renew` on one of them, and pair the other one again (`kith pair`); what both wrote is kept."
            ),
            (
                .unproven(of: []),
                "Everything is kept here, and is sent as soon as another device was met. If that device is gone for good, remove it from the household: `kith device revoke NAME`."
            ),
            (
                .refused(by: ["desk"]),
                "It may have been removed on another device. Your notes are all here; to share them again, run `kith pair` here and on one of the others."
            ),
            (
                .notReachable(devices: 1, withoutDiscovery: "no daemon"),
                "Devices cannot be found by mDNS here (no daemon). Start the mDNS daemon, or give an address: `kith device add ID --address HOST:PORT`."
            ),
            (
                .notReachable(devices: 1, withoutDiscovery: nil),
                "It catches up by itself when a device appears. Is `kith up` running there, and does it trust this device?"
            ),
            (
                .silent(milliseconds: 65_000),
                "It may be stopped, or the machine was asleep until now. If this stays, end it and run `kith up` again."
            ),
            (.storeFails("x"), "Your notes are safe here. Mend this, and the node goes on by itself."),
            (.noNetwork(cards: []), "Plug in the cable or join the Wi-Fi; the node goes on by itself."),
        ]
        for (reason, expected) in cases { #expect(words(reason) == expected) }
    }

    @Test func `a row that is too large to be sent is named, with what to do`() {
        var peer = NodeStatus.Peer(deviceID: "ABCDE", name: "desk")
        #expect(peer.remarks == [])
        peer.withheld = ["note 1"]
        #expect(
            peer.remarks == [
                "desk: the row note 1 is too large to be sent to it. Make the values smaller or fewer; all other rows are sent."
            ])
        peer.withheld = ["note 1", "note 2"]
        #expect(peer.remarks.first?.hasPrefix("desk: 2 rows are too large to be sent to it. The first is note 1.") == true)
    }

    @Test func `a row that is too large to be carried is named, with what to do`() throws {
        var written = Carrier.Written(path: "/stick/file")
        #expect(written.wordsOnWithheld == nil)
        written.withheld = ["note 1"]
        #expect(
            written.wordsOnWithheld
                == "Left out: the row note 1 is too large to be carried. Make the values smaller or fewer; all other rows are in the file.")
        let record = try JSONSerialization.jsonObject(with: JSONEncoder().encode(CarriedOutRecord(written, for: nil))) as? [String: Any]
        #expect(record?["withheld"] as? [String] == ["note 1"])
    }

    @Test func `a status from another version keeps what it said`() {
        var status = NodeStatus(state: .waiting, reason: nil, sentence: "", port: nil, mdns: "", peers: [])
        status.remedy = "As it was."
        #expect(status.inCommands.remedy == "As it was.")
    }
}
