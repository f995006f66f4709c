import Foundation
import TestSupport
import Testing

/// The risk: the parts make a household, and three people with real machines, real mDNS and six digits do not.
@Suite(
    .serialized,
    .enabled(if: PrivateLAN.obstacle == nil, "no private LAN on this machine; scripts/lan.sh says why"))
struct HouseholdMachinesTests {
    /// Pairs two machines by the digits on their screens; each person answers yes.
    private func pair(_ lan: NotesLAN, _ host: Int, _ other: Int) throws {
        let screens = try [host, other].map { try LANProcess.pairing(lan, host: $0, inTerminal: true) }
        let isShown = try lan.wait(seconds: 60) { screens[0].digits != nil && screens[0].digits == screens[1].digits }
        try #require(isShown, "\(screens.map(\.text))")
        for screen in screens { try screen.type("yes") }
        for (screen, name) in zip(screens, ["host\(other)", "host\(host)"]) {
            #expect(screen.status() == 0 && screen.text.contains("Paired with \(name)"), "\(screens.map(\.text))")
        }
    }

    private func members(_ lan: NotesLAN, _ host: Int) throws -> [String] {
        let shown = try lan.kith(on: host, "household", "show", "--json")
        let object = try JSONSerialization.jsonObject(with: Data(shown.utf8)) as? [String: Any]
        return (object?["members"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }.sorted()
    }

    @Test func `three machines make a household revoke one and take it back`() throws {
        let lan = try NotesLAN(hosts: 3)
        _ = try lan.add("kept alone for months", on: 3)
        for host in 1...3 { try lan.start(host) }
        try pair(lan, 1, 2)
        #expect(try lan.wait { try (1...2).allSatisfy { try members(lan, $0) == ["host1", "host2"] } }, "\(lan.logs)")
        // Machine 3 pairs with 2 alone; 1 hears of it, and all get what 3 wrote.
        try pair(lan, 2, 3)
        let isWhole = try lan.wait(seconds: 60) {
            try (1...3).allSatisfy {
                try members(lan, $0) == ["host1", "host2", "host3"] && lan.titles(on: $0) == ["kept alone for months"]
            }
        }
        #expect(isWhole, "\(lan.logs)")
        // Machine 1 revokes 3; 2 hears of it, and 3 gets nothing more from either.
        try lan.kith(on: 1, "device", "revoke", "host3")
        #expect(try lan.wait { try members(lan, 2) == ["host1", "host2"] }, "\(lan.logs)")
        _ = try lan.add("not for 3", on: 1)
        #expect(try lan.wait { try lan.titles(on: 2).contains("not for 3") }, "\(lan.logs)")
        #expect(try lan.wait(seconds: 3) { try lan.titles(on: 3).contains("not for 3") } == false)
        // It leaves, keeps all it has, and comes back.
        try lan.kith(on: 3, "household", "leave")
        #expect(try lan.titles(on: 3) == ["kept alone for months"])
        try pair(lan, 1, 3)
        #expect(try lan.wait(seconds: 60) { try lan.titles(on: 3) == ["kept alone for months", "not for 3"] }, "\(lan.logs)")
        // It takes a new key, and the others follow.
        let old = try lan.deviceID(3)
        try lan.kith(on: 3, "device", "renew")
        #expect(try lan.deviceID(3) != old)
        _ = try lan.add("under the new key", on: 3)
        #expect(
            try lan.wait(seconds: 60) { try (1...2).allSatisfy { try lan.titles(on: $0).contains("under the new key") } }, "\(lan.logs)")
        // Machine 2 leaves, and the others hear of it.
        try lan.kith(on: 2, "household", "leave")
        #expect(try lan.wait(seconds: 60) { try [1, 3].allSatisfy { try members(lan, $0) == ["host1", "host3"] } }, "\(lan.logs)")
        #expect(try lan.titles(on: 2).count == 3)
    }
}
