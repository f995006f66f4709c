import Testing

@testable import KithDiscovery

@Suite("Only addresses that a peer can be reached at are passed on")
struct HostAddressTests {
    @Test(
        arguments: [
            ([10, 0, 0, 7], 3, "10.0.0.7"),
            ([169, 254, 1, 2], 3, "169.254.1.2"),
            ([127, 0, 0, 1], 1, "127.0.0.1"),
            ([0xFD, 0] + [UInt8](repeating: 0, count: 13) + [7], 3, "fd00::7"),
            ([0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [7], 3, "fe80::7%3"),
            ([UInt8](repeating: 0, count: 15) + [1], 1, "::1"),
        ] as [([UInt8], UInt32, String)])
    func `an address reads as text for the resolver of the system`(bytes: [UInt8], interface: UInt32, text: String) throws {
        #expect(try #require(HostAddress(bytes: bytes, interface: interface)).description == text)
    }

    @Test(
        arguments: [
            [], [1, 2, 3], [UInt8](repeating: 1, count: 15), [UInt8](repeating: 1, count: 17),
            [0, 0, 0, 0], [224, 0, 0, 251], [255, 255, 255, 255], [127, 0, 0, 1],
            [UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 15) + [1], [0xFF, 0x02] + [UInt8](repeating: 0, count: 14),
            [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1],
        ] as [[UInt8]])
    func `unspecified, multicast, broadcast, mapped, foreign loopback and odd lengths are dropped`(bytes: [UInt8]) {
        #expect(HostAddress(bytes: bytes, interface: 2) == nil)
    }

    @Test func `addresses that reach further come first`() throws {
        let linkLocal = try #require(HostAddress(bytes: [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [7], interface: 2))
        let selfAssigned = try #require(HostAddress(bytes: [169, 254, 0, 1], interface: 2))
        let ipv4 = try #require(HostAddress(bytes: [192, 168, 1, 2], interface: 2))
        let ipv6 = try #require(HostAddress(bytes: [0xFD] + [UInt8](repeating: 0, count: 15), interface: 2))
        #expect([linkLocal, ipv6, selfAssigned, ipv4].sorted() == [ipv4, ipv6, selfAssigned, linkLocal])
    }
}
