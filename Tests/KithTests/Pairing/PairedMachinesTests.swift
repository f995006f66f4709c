import Foundation
import TestSupport
import Testing

/// The risk: the parts pair, and two people with two machines do not.
@Suite(
    .serialized,
    .enabled(if: PrivateLAN.obstacle == nil, "no private LAN on this machine; scripts/lan.sh says why"))
struct PairedMachinesTests {
    /// Waits until both machines show the same digits.
    private func digits(_ lan: NotesLAN, _ first: LANProcess, _ second: LANProcess) throws -> String {
        let isShown = try lan.wait(seconds: 60) {
            let code = first.value("code", of: "compare")
            return code != nil && code == second.value("code", of: "compare")
        }
        try #require(isShown, "\(first.text)\n\(second.text)")
        return first.value("code", of: "compare") ?? ""
    }

    @Test func `machines that find each other are paired by digits and synchronise`() throws {
        let lan = try NotesLAN(hosts: 2)
        _ = try lan.add("alone until now", on: 1)
        try lan.start(1)
        try lan.start(2)
        let first = try LANProcess.pairing(lan, host: 1, inTerminal: false)
        let second = try LANProcess.pairing(lan, host: 2, inTerminal: false)
        let code = try digits(lan, first, second)
        #expect(code.utf8.count == 6)
        try first.type("yes")
        // The other person types what the first screen shows.
        try second.type("\(code.prefix(3)) \(code.suffix(3))")
        #expect(first.status() == 0 && second.status() == 0, "\(first.text)\n\(second.text)")
        #expect(try lan.kith(on: 1, "device", "list").contains("host2"))
        #expect(try lan.wait { try lan.titles(on: 2) == ["alone until now"] }, "\(lan.logs)")
    }

    @Test func `other digits pair nobody`() throws {
        let lan = try NotesLAN(hosts: 2)
        let first = try LANProcess.pairing(lan, host: 1, inTerminal: false)
        let second = try LANProcess.pairing(lan, host: 2, inTerminal: false, "--address", "10.77.0.1:4748")
        let code = try digits(lan, first, second)
        try first.type("yes")
        try second.type(code == "000000" ? "000001" : "000000")
        #expect(second.status() == 65)
        #expect(try lan.wait { first.value("reason", of: "failed") == "refused" }, "\(first.text)")
        for host in 1...2 { #expect(try lan.kith(on: host, "device", "list", "--json").filter { !$0.isWhitespace } == "[]") }
    }

    @Test func `a token pairs machines without mDNS and without anybody`() throws {
        let lan = try NotesLAN(hosts: 2)
        for host in 1...2 { try lan.command("mdns-stop", "\(host)") }
        let first = try LANProcess.pairing(lan, host: 1, inTerminal: false, "--token")
        #expect(try lan.wait { first.value("token", of: "open") != nil }, "\(first.text)")
        let token = first.value("token", of: "open") ?? ""
        try lan.kith(on: 2, "pair", token, "--address", "10.77.0.1:4748", "--name", "host2")
        #expect(first.status() == 0, "\(first.text)")
        _ = try lan.add("over the given address", on: 1)
        try lan.start(1, port: 4747)
        try lan.start(2)
        #expect(try lan.wait { try lan.titles(on: 2) == ["over the given address"] }, "\(lan.logs)")
    }

    @Test func `machines that find each other are paired by a token`() throws {
        let lan = try NotesLAN(hosts: 3)
        let first = try LANProcess.pairing(lan, host: 1, inTerminal: false, "--token")
        #expect(try lan.wait { first.value("token", of: "open") != nil }, "\(first.text)")
        // A bystander with another token does not get in, nor in the way.
        let bystander = try LANProcess.pairing(lan, host: 3, inTerminal: false)
        try lan.kith(on: 2, "pair", first.value("token", of: "open") ?? "", "--name", "host2")
        #expect(first.status() == 0, "\(first.text)")
        #expect(bystander.value("code", of: "compare") == nil)
        #expect(try lan.kith(on: 1, "device", "list").contains("host2"))
    }
}
