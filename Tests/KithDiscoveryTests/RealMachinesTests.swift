import Foundation
import TestSupport
import Testing

@Suite(
    "RealMachines: hosts of a LAN find each other through real mDNS daemons", .serialized,
    .enabled(if: PrivateLAN.obstacle == nil, Comment(rawValue: PrivateLAN.obstacle ?? "")))
struct RealMachinesTests {
    /// Runs `body` with a LAN of two hosts and a process on each.
    private func withTwoHosts(
        prepare: (PrivateLAN) throws -> Void = { _ in },
        _ body: (PrivateLAN, DiscoveryProcess, DiscoveryProcess) async throws -> Void
    ) async throws {
        let lan = try PrivateLAN(hosts: 2)
        try prepare(lan)
        let first = try DiscoveryProcess(on: lan, host: 1, name: "first", port: 4001)
        let second = try DiscoveryProcess(on: lan, host: 2, name: "second", port: 4002)
        let processes = [try first.start(), try second.start()]
        defer {
            for host in [first, second] { host.end() }
            withExtendedLifetime(lan) { for process in processes { process.waitUntilExit() } }
        }
        try await body(lan, first, second)
    }

    @Test func `two hosts find each other with address, port and attributes, and not themselves`() async throws {
        try await withTwoHosts { _, first, second in
            _ = try await first.hears("appeared second 10.77.0.2 4002 of=second")
            _ = try await second.hears("appeared first 10.77.0.1 4001 of=first")
            second.end()
            let end = try await first.hears("disappeared second")
            #expect(first.heard == ["running", "appeared second 10.77.0.2 4002 of=second", "disappeared second"])
            #expect(end == 3)
        }
    }

    @Test func `a daemon that is killed is missed, and after its return its host sees again who comes and goes`() async throws {
        try await withTwoHosts { lan, first, second in
            _ = try await first.hears("appeared second")
            try lan.command("mdns-stop", "1", "KILL")
            let down = try await first.hears("unavailable")
            try lan.command("mdns-start", "1")
            let up = try await first.hears("running", after: down)
            second.end()
            _ = try await first.hears("disappeared second", after: up)
        }
    }

    @Test func `after its daemon was stopped and started a host is announced again`() async throws {
        try await withTwoHosts { lan, _, second in
            _ = try await second.hears("appeared first")
            try lan.command("mdns-stop", "1", "TERM")
            let gone = try await second.hears("disappeared first")
            try lan.command("mdns-start", "1")
            _ = try await second.hears("appeared first 10.77.0.1 4001 of=first", after: gone)
        }
    }

    @Test func `a host without mDNS says so, and finds the others once it has it`() async throws {
        try await withTwoHosts {
            try $0.command("mdns-stop", "1", "KILL")
        } _: { lan, first, second in
            _ = try await first.hears("unavailable")
            try lan.command("mdns-start", "1")
            _ = try await first.hears("appeared second")
            _ = try await second.hears("appeared first")
        }
    }

    @Test func `hosts find each other when the cable between them comes late`() async throws {
        try await withTwoHosts {
            try $0.command("unbridge", "2")
        } _: { lan, first, second in
            _ = try await (first.hears("running"), second.hears("running"))
            try lan.command("rebridge", "2")
            _ = try await first.hears("appeared second")
            _ = try await second.hears("appeared first")
        }
    }
}
