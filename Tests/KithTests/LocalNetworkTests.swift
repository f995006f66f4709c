import Testing

@testable import Kith

/// The risk: a cable is out, and people read that all is well; or it is in again, and nobody tries.
@Suite struct LocalNetworkTests {
    private var network: LocalNetwork {
        LocalNetwork(links: [
            .init(name: "lo", isConnected: true, isLoopback: true, addresses: ["127.0.0.1", "::1"]),
            .init(name: "eth0", isConnected: true, addresses: ["10.77.0.1", "fe80::1%eth0"]),
            .init(name: "wlan0", isConnected: false, addresses: ["192.168.1.7"]),
            .init(name: "usb0", isConnected: false),
        ])
    }

    @Test func `what a working link has is carried`() {
        for address in ["10.77.0.1", "::ffff:10.77.0.1", "fe80::1%eth0", "fe80::1", "127.0.0.1"] { #expect(network.carries(address)) }
        for address in ["192.168.1.7", "10.77.0.2", "::ffff:10.77.0.2", ""] { #expect(!network.carries(address)) }
        // What is on a link without a cable is this machine, too, and not another one with its key.
        for address in ["10.77.0.1", "192.168.1.7", "::ffff:192.168.1.7", "fe80::1"] { #expect(network.has(address)) }
        #expect(!network.has("10.77.0.2"))
        #expect(network.addresses == ["10.77.0.1", "fe80::1%eth0"])
        #expect(network.cutLinks == ["wlan0"])
    }

    @Test func `without any working link all that are out are named`() {
        var network = network
        network.links[1].isConnected = false
        #expect(!network.isConnected)
        #expect(network.cutLinks == ["eth0", "wlan0", "usb0"])
        #expect(network.carries("127.0.0.1"))
    }

    @Test func `what the system lists is read`() throws {
        let network = try #require(LocalNetwork.current)
        #expect(network.links.allSatisfy { !$0.name.isEmpty })
    }

    @Test func `who watches hears of the network at once`() async {
        var heard: LocalNetwork?
        for await network in NetworkWatch.networks {
            heard = network
            break
        }
        #expect(heard != nil)
    }
}
