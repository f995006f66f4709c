import Foundation
import KithTrust
import Logging
import Testing

@testable import Kith

/// The risk: devices that met once do not meet again, because where they were is forgotten.
@Suite struct AddressMemoryTests {
    private let folder: URL
    private let device = DeviceKey().id

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "kith-memory-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private var memory: AddressMemory { AddressMemory(in: folder, logger: Logger(label: "test")) }

    private func address(_ number: Int) throws -> PeerAddress { try PeerAddress(host: "10.0.0.\(number)", port: 4747) }

    @Test func `the newest addresses outlive the process for their owner alone`() throws {
        #expect(memory.addresses(of: device).isEmpty)
        let first = memory
        for number in 1...6 { first.note([try address(number)], of: device) }
        first.note([try address(5)], of: device)
        let newest = try [5, 6, 4, 3].map(address)
        #expect(first.addresses(of: device) == newest)
        #expect(memory.addresses(of: device) == first.addresses(of: device))
        let mode = try FileManager.default.attributesOfItem(atPath: folder.appending(path: AddressMemory.fileName).path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        memory.keep(only: [])
        #expect(memory.addresses(of: device).isEmpty)
    }

    @Test func `a file that cannot be read is forgotten`() throws {
        try Data("{\"x\": 1".utf8).write(to: folder.appending(path: AddressMemory.fileName))
        #expect(memory.addresses(of: device).isEmpty)
        memory.note([try address(1)], of: device)
        let only = try [address(1)]
        #expect(memory.addresses(of: device) == only)
    }

    @Test func `a device without an address is found where it was reached before`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try a.trust(b)
        a.start()
        try b.trust(a, port: try await a.port())
        b.start()
        try await b.until { b.node.status.peers.first?.isInSync == true }
        await b.stop()
        // Neither mDNS nor a person says where it is.
        try b.trust.remove(a.key.id)
        try b.trust(a)
        #expect(b.trust.device(a.key.id)?.addresses == [])
        b.start()
        try await b.until { b.node.status.peers.first?.state == .connected }
        await a.stop()
        await b.stop()
    }
}
