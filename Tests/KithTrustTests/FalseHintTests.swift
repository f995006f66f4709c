import Foundation
import KithTrust
import Testing

/// The risk: a name or address from outside spoofs the terminal, or means two things.
@Suite struct FalseHintTests {
    @Test(arguments: [
        ("laptop.local:4747", "laptop.local", 4747), ("10.0.0.7:1", "10.0.0.7", 1), ("[::1]:65535", "::1", 65535),
        ("[fe80::1%eth0]:4747", "fe80::1%eth0", 4747),
    ])
    func `an address reads back from its text`(text: String, host: String, port: Int) throws {
        let address = try PeerAddress(parsing: text)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.description == text)
    }

    @Test(arguments: [
        "", ":", "a", "a:", ":1", "a:0", "a:65536", "a:-1", "a:+1", "a:1x", "::1:4747", "[]:1", "[::1]", "a b:1", "a\u{7}:1",
        "http://a:1", "a/b:1", "user@a:1", "a:99999999999999999999", "é:1",
    ])
    func `text that is no address is refused`(text: String) {
        let error = #expect(throws: TrustError.self) { try PeerAddress(parsing: text) }
        #expect(error?.code == .invalidAddress)
    }

    @Test func `a host is read up to its limit and refused beyond`() throws {
        let longest = String(repeating: "a", count: PeerAddress.hostBytesMax)
        #expect(try PeerAddress(parsing: longest + ":65535").host == longest)
        #expect(throws: TrustError.self) { try PeerAddress(parsing: longest + "a:65535") }
        #expect(throws: TrustError.self) { try PeerAddress(host: longest + "a", port: 1) }
    }

    @Test func `a name fits on one line and hides nothing`() throws {
        func name(_ name: String) throws { _ = try TrustedDevice(id: DeviceKey().id, name: name, added: .now) }
        let longest = String(repeating: "é", count: TrustedDevice.nameBytesMax / 2)
        for good in ["", "Attic", longest, "家のPC", "👩\u{200D}🍳"] { #expect(throws: Never.self) { try name(good) } }
        for bad in [longest + "x", "a\nb", "\u{1B}[31m", "a\u{202E}b", "a\u{2028}b", "\u{0}"] {
            #expect(throws: TrustError.self) { try name(bad) }
        }
    }

    @Test func `a device has addresses up to the limit`() throws {
        let addresses = try (1...TrustedDevice.addressesMax + 1).map { try PeerAddress(host: "a", port: $0) }
        #expect(throws: Never.self) { try TrustedDevice(id: DeviceKey().id, addresses: addresses.dropLast(), added: .now) }
        #expect(throws: TrustError.self) { try TrustedDevice(id: DeviceKey().id, addresses: addresses, added: .now) }
    }
}
