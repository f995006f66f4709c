import Foundation
import KithTrust
import NIOCore
import TestSupport
import Testing

@testable import KithTransport

/// The risk: connections that never say who they are keep out those that would.
@Suite struct FloodTests {
    @Test func `up to the limit everybody waits and beyond the oldest of an address gives way`() {
        let door = Door()
        let tickets = (0..<4).map { _ in door.arrive(from: "a") }
        #expect(tickets.allSatisfy { $0.evicted == nil })
        #expect(door.arrive(from: "a").evicted == tickets[0].ticket)
        #expect(door.arrive(from: "a").evicted == tickets[1].ticket)
        #expect(door.waitingCount == 4)
        #expect(door.arrive(from: "b").evicted == nil)
    }

    @Test func `beyond the total the fullest address gives way`() {
        let door = Door()
        let lonely = door.arrive(from: "honest").ticket
        var first: AdmissionControl.Ticket?
        for number in 0..<31 {
            let ticket = door.arrive(from: "flood \(number / 4)").ticket
            first = first ?? ticket
        }
        #expect(door.waitingCount == 32)
        #expect(door.arrive(from: "newcomer").evicted == first)
        #expect(door.waitingCount == 32)
        for number in 0..<1000 {
            #expect(door.arrive(from: "flood \(number % 7)").evicted != lonely)
        }
        #expect(door.waitingCount <= 32)
    }

    @Test func `addresses of one network of IPv6 share its places`() {
        let door = Door()
        let honest = door.arrive(from: "192.168.1.7").ticket
        let other = door.arrive(from: "2001:db8:0:2::1").ticket
        var evicted: [AdmissionControl.Ticket?] = []
        for number in 0..<10_000 {
            // Any number of addresses, however they are written, with another scope or none.
            let prefix = number % 2 == 0 ? "2001:db8:0:1:" : "2001:0db8:0000:0001:"
            evicted.append(door.arrive(from: "\(prefix)\(String(number, radix: 16)):1:2:3" + (number % 3 == 0 ? "%eth0" : "")).evicted)
        }
        #expect(door.waitingCount == 2 + 16)
        #expect(!evicted.contains(honest) && !evicted.contains(other))
        #expect(evicted.prefix(16).allSatisfy { $0 == nil } && evicted.dropFirst(16).allSatisfy { $0 != nil })
    }

    @Test func `an address at which somebody was let in keeps its place in any flood`() {
        let door = Door()
        let before = door.arrive(from: "fe80::1%eth0").ticket
        #expect(door.authenticate(before, as: DeviceKey().id))
        door.leave(before)
        let honest = door.arrive(from: "fe80::1%eth0").ticket
        for number in 0..<5_000 {
            #expect(door.arrive(from: "fe80::\(String(number + 2, radix: 16))%eth0").evicted != honest)
            #expect(door.arrive(from: "2001:db8:\(String(number, radix: 16))::1").evicted != honest)
            #expect(door.arrive(from: "10.0.\(number / 250).\(number % 250)").evicted != honest)
        }
        #expect(door.waitingCount == 32 + 1)
        // So many are remembered, and no more.
        for number in 0..<64 {
            let ticket = door.arrive(from: "10.9.0.\(number)").ticket
            #expect(door.authenticate(ticket, as: DeviceKey().id))
            door.leave(ticket)
        }
        var evicted: [AdmissionControl.Ticket?] = []
        for number in 0..<17 { evicted.append(door.arrive(from: "10.9.0.\(number)").evicted) }
        // Sixteen have places of their own, and the seventeenth takes that of the first of them.
        #expect(evicted.prefix(15).allSatisfy { $0 == nil } && evicted[15] != nil)
    }

    @Test func `who is authenticated or gone makes room`() {
        let door = Door()
        let peer = DeviceKey().id
        for _ in 0..<100 {
            let (ticket, evicted) = door.arrive(from: "a")
            #expect(evicted == nil)
            #expect(door.authenticate(ticket, as: peer))
            door.leave(ticket)
        }
        for _ in 0..<100 {
            let (ticket, evicted) = door.arrive(from: "a")
            #expect(evicted == nil)
            door.leave(ticket)
        }
        #expect(door.waitingCount == 0)
    }

    @Test func `a device has connections up to the limit`() {
        let door = Door()
        let (peer, other) = (DeviceKey().id, DeviceKey().id)
        let tickets = (0..<9).map { _ in door.arrive(from: "a").ticket }
        #expect(tickets.prefix(8).allSatisfy { door.authenticate($0, as: peer) })
        #expect(!door.authenticate(tickets[8], as: peer))
        #expect(door.authenticate(door.arrive(from: "a").ticket, as: other))
        door.leave(tickets[0])
        #expect(door.authenticate(door.arrive(from: "a").ticket, as: peer))
    }

    @Test func `a device that connects again and again has to wait, and no other one`() {
        let door = Door()
        let (restless, other) = (DeviceKey().id, DeviceKey().id)
        func connects(_ device: DeviceID, _ now: Int64) -> Bool {
            let ticket = door.arrive(from: "a").ticket
            defer { door.leave(ticket) }
            return door.authenticate(ticket, as: device, now: now)
        }
        #expect((0..<1_000).count { _ in connects(restless, 0) } == 32)
        #expect((1...10_000).count { connects(restless, $0) } == 40)
        #expect(connects(other, 10_000))
        // After a pause it has its burst again.
        #expect((0..<1_000).count { _ in connects(restless, 20_000) } == 32)
    }

    @Test func `a trusted peer gets in through a flood of half open connections`() async throws {
        let (own, friend) = (DeviceKey(), DeviceKey())
        let transport = try Transport(key: own, admits: { $0 == friend.id })
        let port = try await transport.listen(host: "127.0.0.1", port: 0)
        let other = try Transport(key: friend, admits: { $0 == own.id })
        var sockets: [RawSocket] = []
        for _ in 0..<Soak.count(300, soaking: 2_000) {
            let socket = try await RawSocket(port: port)
            try? await socket.send([0x16, 3, 1])
            sockets.append(socket)
        }
        #expect(transport.unauthenticatedCount <= TransportConfiguration().unauthenticatedPerAddressMax)
        let connection = try await other.dial(host: "127.0.0.1", port: port, timeoutMilliseconds: 30_000)
        try await connection.send([1])
        var incoming = transport.incoming.makeAsyncIterator()
        let accepted = try #require(await incoming.next())
        #expect(try await accepted.take(1) == [[1]])
        await connection.close()
        await accepted.close()
        await transport.close()
        for socket in sockets { await socket.waitUntilClosed() }
        await other.close()
    }

    @Test(.timeLimit(.minutes(2))) func `a handshake that does not finish is dropped`() async throws {
        var configuration = TransportConfiguration()
        configuration.handshakeTimeoutMilliseconds = 50
        let transport = try Transport(key: DeviceKey(), configuration: configuration, admits: { _ in true })
        let port = try await transport.listen(host: "::1", port: 0)
        let socket = try await RawSocket(host: "::1", port: port)
        await socket.waitUntilClosed()
        // The other end sees a connection end before it is counted out.
        try await waitWhile { transport.unauthenticatedCount > 0 }
        await transport.close()
    }

    @Test func `connections that nobody takes are dropped beyond the limit`() async throws {
        var configuration = TransportConfiguration()
        configuration.incomingMax = 3
        let (own, friend) = (DeviceKey(), DeviceKey())
        let transport = try Transport(key: own, configuration: configuration, admits: { $0 == friend.id })
        let port = try await transport.listen(host: "127.0.0.1", port: 0)
        let other = try Transport(key: friend, admits: { $0 == own.id })
        var dialled: [Connection] = []
        for _ in 0..<4 {
            dialled.append(try await other.dial(host: "127.0.0.1", port: port))
            // Who dials is done before who answers.
            try await waitWhile { transport.unauthenticatedCount > 0 }
        }
        #expect(await dialled[3].ending()?.code == .connectionLost)
        await transport.close()
        var taken = 0
        for await connection in transport.incoming {
            taken += 1
            await connection.close()
        }
        #expect(taken == 3)
        await other.close()
    }
}

/// An admission control that can be asked inside an expectation.
private final class Door {
    private var admission = AdmissionControl(configuration: TransportConfiguration())
    private var now: Int64 = 0

    var waitingCount: Int { admission.waitingCount }

    func arrive(from address: String) -> (ticket: AdmissionControl.Ticket, evicted: AdmissionControl.Ticket?) {
        admission.arrive(from: address)
    }

    /// - Parameter now: without it a second has passed since the one before.
    func authenticate(_ ticket: AdmissionControl.Ticket, as peer: DeviceID, now: Int64? = nil) -> Bool {
        self.now = now ?? self.now + 1_000
        return admission.authenticate(ticket, as: peer, now: self.now)
    }

    func leave(_ ticket: AdmissionControl.Ticket) {
        admission.leave(ticket)
    }
}
