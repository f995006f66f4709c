import Foundation
import Testing

/// The risk: the parts make a household, and three people with real machines, real mDNS and six digits do not.
@Suite(
    .serialized,
    .enabled(if: PrivateLAN.obstacle == nil, "no private LAN on this machine; scripts/lan.sh says why"))
struct HouseholdMachinesTests {
    /// Pairs two machines by digits; each person answers yes.
    private func pair(_ lan: PrivateLAN, _ host: Int, _ other: Int) throws {
        let processes = [try PairingProcess(lan, host: host), try PairingProcess(lan, host: other)]
        let isShown = try lan.wait(seconds: 60) {
            let code = processes[0].value("code", of: "compare")
            return code != nil && code == processes[1].value("code", of: "compare")
        }
        try #require(isShown, "\(processes.map(\.text))")
        for process in processes { try process.type("yes") }
        for process in processes { #expect(process.status() == 0, "\(processes.map(\.text))") }
    }

    private func members(_ lan: PrivateLAN, _ host: Int) throws -> [String] {
        let shown = try lan.kith(on: host, "household", "show", "--json")
        let object = try JSONSerialization.jsonObject(with: Data(shown.utf8)) as? [String: Any]
        return (object?["members"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }.sorted()
    }

    @Test func threeMachinesMakeAHouseholdRevokeOneAndTakeItBack() throws {
        let lan = try PrivateLAN(hosts: 3)
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
    }
}
