import Foundation
import TestSupport
import Testing

/// The real binary on several hosts, with real mDNS, TCP and TLS between them.
@Suite(
    .serialized,
    .enabled(if: PrivateLAN.obstacle == nil, "no private LAN on this machine; scripts/lan.sh says why"))
struct RealMachinesTests {
    @Test func `a note made before anything was connected reaches every host`() throws {
        let lan = try NotesLAN(hosts: 3)
        _ = try lan.add("alone", on: 1)
        for (a, b) in [(1, 2), (1, 3), (2, 3)] {
            try lan.trust(a, b)
            try lan.trust(b, a)
        }
        for host in 1...3 { try lan.start(host) }
        for host in 2...3 {
            #expect(try lan.wait { try lan.titles(on: host) == ["alone"] }, "\(lan.logs)")
        }
    }

    @Test func `edits on both sides of a cut cable merge when it heals`() throws {
        let lan = try NotesLAN(hosts: 2)
        try lan.trust(1, 2)
        try lan.trust(2, 1)
        let id = try lan.add("shared", on: 1)
        try lan.start(1)
        try lan.start(2)
        #expect(try lan.wait { try lan.titles(on: 2) == ["shared"] }, "\(lan.logs)")
        try lan.command("part", "1")
        try lan.kith(on: 1, "note", "edit", id, "--title", "shared, renamed")
        try lan.kith(on: 2, "note", "edit", id, "--color", "green")
        _ = try lan.add("made on 2", on: 2)
        #expect(try lan.titles(on: 1) == ["shared, renamed"])
        try lan.command("heal", "1")
        for host in 1...2 {
            let isMerged = try lan.wait(seconds: 60) { try lan.titles(on: host) == ["made on 2", "shared, renamed"] }
            #expect(isMerged, "\(lan.logs)")
            let note = try lan.kith(on: host, "note", "show", id, "--json")
            let object = try JSONSerialization.jsonObject(with: Data(note.utf8)) as? [String: Any]
            #expect(object?["color"] as? String == "green")
        }
    }

    @Test func `a host relays between two that cannot see each other`() throws {
        let lan = try NotesLAN(hosts: 3)
        try lan.command("isolate", "1")
        try lan.command("isolate", "3")
        for (a, b) in [(1, 2), (3, 2), (1, 3)] {
            try lan.trust(a, b)
            try lan.trust(b, a)
        }
        for host in 1...3 { try lan.start(host) }
        _ = try lan.add("from 1", on: 1)
        _ = try lan.add("from 3", on: 3)
        #expect(try lan.wait { try lan.titles(on: 3) == ["from 1", "from 3"] }, "\(lan.logs)")
        #expect(try lan.wait { try lan.titles(on: 1) == ["from 1", "from 3"] }, "\(lan.logs)")
    }

    @Test func `a device that is not on the list gets nothing`() throws {
        let lan = try NotesLAN(hosts: 3)
        try lan.trust(1, 2)
        try lan.trust(2, 1)
        try lan.trust(3, 1)
        try lan.trust(3, 2)
        for host in 1...3 { try lan.start(host) }
        _ = try lan.add("for 2 only", on: 1)
        #expect(try lan.wait { try lan.titles(on: 2) == ["for 2 only"] }, "\(lan.logs)")
        // Host 3 has had as long as host 2; give it some of its retries as well.
        #expect(try lan.wait(seconds: 3) { try !lan.titles(on: 3).isEmpty } == false)
    }
}
