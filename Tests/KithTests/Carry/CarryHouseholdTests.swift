import Foundation
import KithStore
import KithTrust
import TestSupport
import Testing

@testable import Kith

/// Who is in the household, where members hear of it by files alone.
@Suite("Who is out of the household reads what is carried, or brings something")
struct CarryHouseholdTests {
    private let stick: TemporaryFolder

    init() throws {
        stick = try TemporaryFolder()
    }

    /// Three machines that know each other's keys, as each has written something that the others have.
    private func acquainted() throws -> [CarryHome] {
        let homes = try CarryHome.household(3)
        for (index, home) in homes.enumerated() { try home.add("of \(index)") }
        for _ in 0..<2 {
            for home in homes {
                _ = try? home.carryIn(stick.path)
                try home.carryOut(stick.path)
            }
        }
        for home in homes { try home.carryIn(stick.path) }
        for name in try FileManager.default.contentsOfDirectory(atPath: stick.path) {
            try FileManager.default.removeItem(atPath: stick.file(name))
        }
        return homes
    }

    @Test func `a revoked machine cannot read what is carried after that, and the others can, who have not heard of it`() throws {
        let homes = try acquainted()
        let (a, b, c) = (homes[0], homes[1], homes[2])
        try a.trust.remove(c.node.key.id)
        try a.add("not for c")
        let file = try a.carryOut(stick.path)
        // Neither its key nor any secret that it has opens the file.
        #expect(try c.carryIn(file.path) == [.notForUs])
        #expect(try b.carryIn(file.path) == [.taken])
        #expect(b.trust.device(c.node.key.id) == nil)
        #expect(try b.titles().contains("not for c"))
        // The secret came along, too: b and a can go on.
        #expect(b.trust.household?.secrets == a.trust.household?.secrets)
        // What c carries is refused from then on, although it can still seal it for both.
        try c.add("of a thief")
        try c.carryOut(stick.file("c.kithcarry"))
        for home in [a, b] {
            let before = try home.state()
            #expect(try home.carryIn(stick.file("c.kithcarry")) == [.refused])
            #expect(try home.state() == before)
        }
    }

    @Test func `a revocation reaches a machine that has written nothing, once a file of it was read`() throws {
        let homes = try CarryHome.household(3)
        let (a, b, c) = (homes[0], homes[1], homes[2])
        try a.add("not for b")
        try a.trust.remove(b.node.key.id)
        try a.carryOut(stick.path)
        #expect(try c.carryIn(stick.path) == [.notForUs])
        try c.carryOut(stick.path)
        #expect(try Set(a.carryIn(stick.path)) == [.own, .nothingNew])
        try a.carryOut(stick.path)
        #expect(try Set(c.carryIn(stick.path)) == [.own, .taken])
        #expect(try c.titles() == ["not for b"] && c.trust.device(b.node.key.id) == nil)
        #expect(try b.carryIn(a.carryOut(stick.path).path) == [.notForUs])
    }

    @Test func `a machine whose file under a new key was read can read the next new secret`() throws {
        let homes = try CarryHome.household(3)
        let (a, b, c) = (homes[0], homes[1], homes[2])
        for home in homes.dropFirst() {
            try home.carryOut(stick.path)
            for other in homes { try other.carryIn(stick.path) }
        }
        let renewedB = try renewed(b)
        let first = try renewedB.write(to: stick.file("b.kithcarry"))
        for home in [a, c] { #expect(try home.carryIn(first.path) == [.nothingNew]) }
        let second = try renewed(c).write(to: stick.file("c.kithcarry"))
        #expect(try renewedB.read(second.path).map(\.outcome) == [.nothingNew])
        #expect(try a.carryIn(second.path) == [.nothingNew])
        #expect(b.trust.household?.digest == c.trust.household?.digest && a.trust.household?.digest == c.trust.household?.digest)
    }

    /// The same machine under a new key.
    private func renewed(_ home: CarryHome) throws -> Carrier {
        _ = try home.trust.renewKey()
        return Carrier(store: home.store, key: try home.trust.key(), trust: home.trust, app: home.app, software: "test")
    }

    @Test func `a revocation in the very file that is signed by who it is about is heard`() throws {
        let homes = try acquainted()
        let (a, b, c) = (homes[0], homes[1], homes[2])
        try a.trust.remove(c.node.key.id)
        // c has heard of its own end, and carries it in its own file.
        try c.hear(a)
        #expect(throws: TrustError.self) { try c.carryOut(stick.path) }
        #expect(throws: CarryError.self) { try c.carrier.read(stick.path) }
        #expect(b.trust.device(c.node.key.id) != nil)
    }

    @Test func `a machine that was added by another one is believed by who never met it`() throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        let c = try CarryHome()
        try a.admit(c, as: "newcomer")
        try c.hear(a)
        try c.add("of the newcomer")
        try c.carryOut(stick.path)
        #expect(b.trust.device(c.node.key.id) == nil)
        #expect(try b.carryIn(stick.path) == [.taken])
        #expect(b.trust.device(c.node.key.id)?.name == "newcomer")
        #expect(try b.titles() == ["of the newcomer"])
        // And b's word comes back to it.
        try b.carryOut(stick.path)
        try c.carryIn(stick.path)
        #expect(try c.store.safety(among: c.trust.devices).holders.map(\.name) == ["home1"])
    }

    @Test func `a machine with a new key goes on, and reads what was sealed for the old one`() throws {
        let homes = try acquainted()
        let (a, b) = (homes[0], homes[1])
        try a.add("for the old key")
        try a.carryOut(stick.file("old.kithcarry"))
        _ = try b.trust.renewKey()
        let renewed = try b.trust.key()
        let carrier = Carrier(store: b.store, key: renewed, trust: b.trust, app: b.app, software: "test")
        #expect(try carrier.read(stick.file("old.kithcarry")).map(\.outcome) == [.taken])
        try b.add("by the new key")
        _ = try carrier.write(to: stick.file("new.kithcarry"))
        #expect(try a.carryIn(stick.file("new.kithcarry")) == [.taken])
        #expect(try a.titles().contains("by the new key"))
        #expect(a.trust.device(renewed.id) != nil)
    }

    @Test func `an old file lowers and raises nothing that was said since`() throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        try a.add("one")
        try a.carryOut(stick.file("1.kithcarry"))
        try b.carryIn(stick.file("1.kithcarry"))
        try b.carryOut(stick.file("2.kithcarry"))
        try a.add("two")
        try a.carryOut(stick.file("3.kithcarry"))
        try b.carryIn(stick.file("3.kithcarry"))
        try b.carryOut(stick.file("4.kithcarry"))
        try a.carryIn(stick.file("4.kithcarry"))
        let said = try a.store.members().map(\.durable)
        try a.carryIn(stick.file("2.kithcarry"))
        #expect(try a.store.members().map(\.durable) == said)
        // b was set back since, and has said so on the network: what it once held it does not hold any more.
        let device = b.node.key.id.bytes
        let later = Int64(Date().timeIntervalSince1970 * 1_000) + 1_000
        try a.store.noteMember(device, replica: .init(high: 7, low: 7), vector: .init(), durable: .init(), madeMilliseconds: later)
        try a.carryIn(stick.file("4.kithcarry"))
        #expect(try a.store.members().allSatisfy { $0.durable.isEmpty })
    }

    @Test func `without a household nothing is carried, in words`() throws {
        let alone = try CarryHome()
        #expect(throws: TrustError.self) { try alone.carryOut(stick.path) }
        #expect(throws: CarryError.self) { try alone.carrier.read(stick.path) }
        // Who was in one speaks of files, and not of who belongs.
        let homes = try CarryHome.household(2)
        try homes[1].trust.leave()
        let error = #expect(throws: TrustError.self) { try homes[1].carryOut(stick.path) }
        #expect(error?.code == .notAMember && error?.message.contains("no file") == true, "\(error?.message ?? "")")
    }
}
