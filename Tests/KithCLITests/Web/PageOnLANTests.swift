import Foundation
import TestSupport
import Testing

@Suite("The page in the local network lets in more than it should, or is not what it says", .timeLimit(.minutes(3)))
struct PageOnLANTests {
    @Test("all that keeps the page of this machine safe keeps it safe in the network, over HTTPS")
    func sameList() async throws {
        try await TLSTunnel.$isUsed.withValue(true) {
            let list = PageSecurityTests()
            try await list.strangers()
            for host in ["evil.example:PORT", "127.0.0.1", "127.0.0.1.evil.example:PORT", "[::2]:PORT", ""] { try await list.hosts(host) }
            try await list.origins()
            try await list.headers()
            try await list.scripts()
            try await list.sizes()
            try await list.crowd()
        }
    }

    @Test("it is another page than that of this machine: without TLS there is nothing, and neither lets in the other's browsers")
    func apart() async throws {
        let home = try KithHome()
        let (_, browser) = try await RunningNode.web(home)
        try browser.add("Shopping")
        let (node, other) = try await TLSTunnel.$isUsed.withValue(true) { try await RunningNode.web(home) }
        #expect(try other.get("/").body.contains("Shopping"))
        #expect(try RawBrowser(port: other.port).get("/").status != 200)
        // Cookies know nothing of ports: each has one of its own, with a key of its own.
        let value = try #require(browser.cookie?.split(separator: "=").last)
        #expect(try other.get("/", "Cookie: kith-\(other.port)=\(value)").status == 401)
        #expect(try browser.get("/", "Cookie: kith-\(browser.port)=\(other.cookie?.split(separator: "=").last ?? "")").status == 401)
        // The next address is for the next browser, and the certificate stays what it is.
        let (first, second) = (node.output, try home.kith("web", "--lan", "--json").output)
        func field(_ name: String, _ line: String) throws -> String? {
            (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])?[name]
        }
        #expect(try field("entrance", first) != field("entrance", second))
        // Each address is good once.
        let entrances = try [second, first].map { try #require(try field("entrance", $0).flatMap { URL(string: $0)?.query }) }
        #expect(try other.stranger.get("/?" + entrances[0]).status == 303)
        for used in entrances { #expect(try other.stranger.get("/?" + used).status == 401) }
        #expect(try field("fingerprint", first) == field("fingerprint", second))
        #expect(try await node.stop(SIGTERM) == 0)
        let again = try RunningNode(home, command: "web", "--lan", "--port", String(other.port))
        try await again.wait { $0.contains("Ctrl-C ends it.") }
        let fingerprint = try #require(try field("fingerprint", first))
        #expect(again.output.contains(fingerprint) && again.output.contains("https://"))
        #expect(
            try home.shell("find keys/web -type f -printf '%m\n' | sort -u; find keys/web -type d -printf '%m\n' | sort -u").output
                == "600\n700\n")
        #expect(try other.get("/").status == 200)
        #expect(try home.kith("web", "--sign-out").status == 0)
        #expect(try browser.get("/").status == 401)
        #expect(try home.kith("web", "--lan", "--open").status == 64)
        #expect(try await again.stop(SIGINT) == 0)
    }
}
