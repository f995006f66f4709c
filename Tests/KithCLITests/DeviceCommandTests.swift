import Foundation
import Testing

@Suite("The wrong machine is trusted")
struct DeviceCommandTests {
    private let home: KithHome
    private let other: String

    init() throws {
        home = try KithHome()
        other = try KithHome().kith("device", "id").lastLine
    }

    @Test func `a machine keeps its id`() throws {
        let id = try home.kith("device", "id")
        #expect(id.status == 0)
        #expect(id.output.split(separator: "-").count == 13)
        #expect(try home.kith("device", "id").output == id.output)
        #expect(id.lastLine != other)
    }

    @Test func `a machine is added, listed, renamed and removed`() throws {
        let added = try home.kith(
            "device", "add", other, "--name", "laptop", "--address", "laptop.local:4747", "--address", "[fe80::1%eth0]:4747")
        #expect(added.status == 0, "\(added.error)")
        #expect(added.output.contains("kith device add \(try home.kith("device", "id").lastLine)"))
        let listed = try home.kith("device", "list").output
        #expect(listed.hasPrefix("laptop (by hand)  \(other.prefix(11))  "))
        #expect(listed.contains("-  -  -  laptop.local:4747, [fe80::1%eth0]:4747"), "\(listed)")
        #expect(try home.kith("device", "rename", "laptop", "attic").status == 0)
        #expect(try home.kith("device", "rename", String(other.prefix(8)).lowercased(), "cellar").status == 0)
        #expect(try home.kith("device", "list").output.hasPrefix("cellar"))
        #expect(try home.kith("device", "remove", "cellar").status == 0)
        #expect(try home.kith("device", "list").output.isEmpty)
    }

    @Test func `notes that cannot be read hide nothing else`() throws {
        try home.kith("device", "add", other, "--name", "laptop")
        try FileManager.default.createDirectory(at: home.store.deletingLastPathComponent(), withIntermediateDirectories: true)
        try home.write("store/notes.sqlite", Data("these are no notes".utf8))
        for (arguments, expected) in [(["status"], "Not running"), (["device", "list"], "laptop")] {
            let shown = try home.shell("\"$KITH\" \(arguments.joined(separator: " "))")
            #expect(shown.status == 0 && shown.output.hasPrefix(expected), "\(shown)")
            #expect(shown.error.contains("unknown") && shown.error.split(separator: "\n").count == 1, "\(shown.error)")
        }
        let status = try home.kith("status", "--json").json() as? [String: Any]
        #expect(status?["sentence"] != nil && status?["safety"] == nil)
    }

    @Test func `an id that is mistyped, incomplete or one's own is refused`() throws {
        var swapped = Array(other)
        swapped.swapAt(0, 1)
        if swapped[0] == swapped[1] { swapped[0] = swapped[0] == "A" ? "B" : "A" }
        expectFailure(try home.kith("device", "add", String(swapped)), 65, "Group 1")
        expectFailure(try home.kith("device", "add", String(other.prefix(20))), 65, "whole id")
        expectFailure(try home.kith("device", "add", ""), 65, "empty")
        expectFailure(try home.kith("device", "add", "日本"), 65)
        expectFailure(try home.kith("device", "add", home.kith("device", "id").lastLine), 65, "this device")
        #expect(try home.kith("device", "list").output.isEmpty)
    }

    @Test func `a name or an address that is none is refused`() throws {
        expectFailure(try home.kith("device", "add", other, "--name", "two\nlines"), 65, "name")
        expectFailure(try home.kith("device", "add", other, "--name", String(repeating: "x", count: 65)), 65, "64")
        for address in ["laptop", "laptop:0", "laptop:70000", "::1:4747", ":4747", "a b:1"] {
            expectFailure(try home.kith("device", "add", other, "--address", address), 65, "host:port")
        }
        for (address, words) in [
            ("[::]:4747", "no single machine"), ("[ff02::1]:4747", "no single machine"), ("0.0.0.0:4747", "no single machine"),
            ("255.255.255.255:4747", "no single machine"), ("224.0.0.1:4747", "no single machine"), ("[fe80::1]:4747", "network card"),
            ("[fe80::1%]:4747", "network card"), ("[zz::1]:4747", "no IPv6"), ("10.0.0.256:4747", "no IPv4"), ("1:4747", "no IPv4"),
            ("[fd00::1]:0", "[fd00::1]:0"),
        ] {
            expectFailure(try home.kith("device", "add", other, "--address", address), 65, words)
        }
        #expect(try home.kith("device", "list").output.isEmpty)
    }

    @Test(arguments: ["", " ", "\u{A0} "]) func `a name that nobody could see is refused`(name: String) throws {
        expectUsage(try home.kith("device", "add", other, "--name", name))
        try home.kith("device", "add", other, "--name", "laptop")
        expectUsage(try home.kith("device", "rename", "laptop", name))
        expectUsage(try home.kith("pair", "--name", name))
        #expect(try home.kith("device", "list").output.hasPrefix("laptop"))
    }

    @Test func `a device that is trusted already is called so, and its new address noted`() throws {
        let first = try home.kith("device", "add", other, "--name", "laptop")
        #expect(first.output.hasPrefix("This machine trusts laptop") && first.output.contains("kith device add "))
        let second = try home.kith("device", "add", other, "--address", "192.0.2.1:4747")
        #expect(second.output.contains("already. Its address was noted.") && !second.output.contains("kith device add"), "\(second)")
        let addresses = (2...8).map { "--address 192.0.2.\($0):4747" }.joined(separator: " ")
        #expect(try home.shell("\"$KITH\" device add \(other) \(addresses)").status == 0)
        expectFailure(try home.kith("device", "add", other, "--address", "192.0.2.9:4747"), 65, "at most 8 addresses")
        let third = try home.kith("device", "add", other, "--forget-addresses", "--address", "192.0.2.9:4747", "--json")
        #expect((try third.json() as? [String: Any])?["addresses"] as? [String] == ["192.0.2.9:4747"], "\(third)")
        let listed = try home.kith("device", "list").output
        #expect(listed.hasPrefix("laptop") && listed.contains("192.0.2.9:4747"), "\(listed)")
    }

    @Test func `a pairing that a signal ends says so, and a script sees which one it was`() throws {
        for (number, status) in [("TERM", 143), ("HUP", 129)] {
            let result = try home.shell(
                """
                "$KITH" pair --token --no-discovery --port 0 --json >told & pid=$!
                for try in $(seq 1000); do grep -q token told && break; sleep 0.01; done
                kill -\(number) $pid; wait $pid; echo "status $?"
                """)
            #expect(result.output == "status \(status)\n")
            #expect(result.error.contains("kith: Not paired: it was stopped.\n"), "\(result.error)")
        }
    }

    @Test func `a pairing that could not end well does not begin`() throws {
        #expect(try home.kith("pair", "--name", String(repeating: "x", count: 65)).status == 64)
        let blind = try home.kith("pair", "ABCD-EFGH-IJKL-MNOP-QRST-UVWX-YZ23", "--no-discovery")
        #expect(blind.status == 64 && blind.error.contains("--address HOST:PORT"), "\(blind.error)")
    }

    @Test func `whoever enters a token that no machine shows any more is asked whether one still does`() throws {
        let shown = try home.shell("timeout 2 \"$KITH\" pair --token --no-discovery --port 0 --json")
        let line = try #require(shown.output.split(separator: "\n").first)
        let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        let token = try #require(event?["token"] as? String)
        let second = try KithHome()
        let result = try second.shell("timeout 3 \"$KITH\" pair \(token) --no-discovery --address 127.0.0.1:1")
        #expect(result.status == 124 && (result.output + result.error).contains("does the other machine still show it?"), "\(result)")
    }

    private func expectUsage(_ result: KithHome.Result) {
        #expect(result.status == 64 && result.error.contains("name that can be seen"), "\(result)")
    }

    @Test func `devices of one name are told apart`() async throws {
        let third = try KithHome().kith("device", "id").lastLine
        for id in [other, third] { try home.kith("device", "add", id, "--name", "laptop") }
        let node = try RunningNode(home, "--no-discovery", "--port", "0")
        try await node.wait { _ in try home.kith("status").output.contains("laptop (\(other.prefix(5)))") }
        #expect(try home.kith("status").output.contains("laptop (\(third.prefix(5)))"))
        #expect(try await node.stop(SIGTERM) == 0)
    }

    @Test func `a machine in no household has no name to change`() throws {
        let own = try home.kith("device", "id").lastLine
        expectFailure(try home.kith("device", "rename", own, "desk"), 66, "no household")
    }

    @Test func `what names no machine, or several, changes none`() throws {
        let third = try KithHome().kith("device", "id").lastLine
        try home.kith("device", "add", other, "--name", "twin")
        try home.kith("device", "add", third, "--name", "twin")
        expectFailure(try home.kith("device", "remove", "twin"), 65, "could be any of")
        expectFailure(try home.kith("device", "remove", "nobody"), 66, "nobody")
        expectFailure(try home.kith("device", "rename", try KithHome().kith("device", "id").lastLine, "x"), 66, "not trusted")
        #expect(try home.kith("device", "list").output.split(separator: "\n").count == 2)
        #expect(try home.kith("device", "remove", other).status == 0)
        #expect(try home.kith("device", "list").output.contains(third.prefix(11)))
    }

    @Test func `a key that others can read, or that is damaged, is refused and left as it is`() throws {
        try home.kith("device", "id")
        try home.shell("chmod 644 keys/device.key")
        expectFailure(try home.shell("\"$KITH\" device id"), 65, "device.key")
        try home.shell("chmod 600 keys/device.key; echo damaged > keys/device.key")
        expectFailure(try home.shell("\"$KITH\" device id"), 65, "device.key")
        #expect(try String(contentsOfFile: home.path("keys/device.key"), encoding: .utf8) == "damaged\n")
        #expect(try home.kith("note", "add", "Notes need no key").status == 0)
    }
}
