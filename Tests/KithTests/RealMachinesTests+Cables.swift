import Foundation
import Testing

/// The risk: a cable is pulled or an address changes, and people read that all is well for as long as silence takes to be noticed
/// (45 s). What is waited for here comes within a second or three on a machine that has nothing else to do.
extension RealMachinesTests {
    // Nested, so that these wait their turn: each blocks a thread for long.
    @Suite struct Cables {
        private static let seconds = 30.0

        private func connectedPair() throws -> NotesLAN {
            let lan = try NotesLAN(hosts: 2)
            try lan.trust(1, 2)
            try lan.trust(2, 1)
            for host in 1...2 { try lan.start(host) }
            for host in 1...2 { #expect(try lan.wait { try state(lan, host) == "upToDate" }, "\(lan.logs)") }
            return lan
        }

        private func status(_ lan: NotesLAN, _ host: Int) throws -> [String: Any] {
            let text = try lan.kith(on: host, "status", "--json")
            return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
        }

        private func state(_ lan: NotesLAN, _ host: Int) throws -> String? {
            (try status(lan, host)["node"] as? [String: Any])?["state"] as? String
        }

        /// What `kith doctor` finds, which need not be well.
        private func doctor(_ lan: NotesLAN, _ host: Int) throws -> String {
            let process = try LANProcess(lan, host: host, ["doctor"])
            _ = process.status()
            return process.text
        }

        @Test func `a pulled cable is noticed long before the silence`() throws {
            let lan = try connectedPair()
            #expect(try doctor(lan, 1).contains("connected, and answers at"))
            try lan.command("part", "1")
            let isNoticed = try lan.wait(seconds: Self.seconds) {
                (try status(lan, 1)["sentence"] as? String)?.contains("connected to no network (eth0)") == true
            }
            #expect(isNoticed, "\(lan.logs)")
            let findings = try doctor(lan, 1)
            #expect(findings.contains("eth0 has no link") && !findings.contains("host2: connected"), "\(findings)")
            // The other machine's link is as it was; whoever looks is told that nobody answers.
            let other = try doctor(lan, 2)
            #expect(other.contains("nobody answers at") || other.contains("host1 at") || other.contains("nobody knows where"), "\(other)")
            #expect(!other.contains("host1: connected"), "\(other)")
            try lan.command("heal", "1")
            for host in 1...2 {
                #expect(try lan.wait(seconds: Self.seconds) { try state(lan, host) == "upToDate" }, "\(lan.logs)")
            }
        }

        @Test func `a new address is used long before the silence`() throws {
            let lan = try connectedPair()
            // Longer than two devices could be said to dial each other at the same time.
            Thread.sleep(forTimeInterval: 11)
            try lan.command("exec", "1", "ip", "addr", "del", "10.77.0.1/24", "dev", "eth0")
            try lan.command("exec", "1", "ip", "addr", "add", "10.77.0.101/24", "dev", "eth0")
            _ = try lan.add("written under the new address", on: 1)
            let isThere = try lan.wait(seconds: Self.seconds) { try lan.titles(on: 2) == ["written under the new address"] }
            #expect(isThere, "\(lan.logs)")
        }
    }
}
