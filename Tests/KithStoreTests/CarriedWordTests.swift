import Foundation
import GRDB
import KithCausality
import KithLedger
import KithStore
import KithSync
import Testing

/// The risk: what a member said once counts for more than what it said since, or a machine that has lost its store is called safe.
@Suite struct CarriedWordTests {
    private static let device: [UInt8] = [7]
    /// A member's store, the one that came after it, and a store of somebody else.
    private static let (first, second, other) = (ReplicaID(high: 1, low: 1), ReplicaID(high: 2, low: 2), ReplicaID(high: 3, low: 3))

    private static func vector(_ dots: (ReplicaID, UInt64)...) -> VersionVector {
        dots.reduce(into: VersionVector()) { $0.insert(Dot(replica: $1.0, sequence: $1.1)) }
    }

    /// A store that heard on the network of the member, as `first`, and now reads a file.
    private func word(
        after known: VersionVector, _ replica: ReplicaID, _ vector: VersionVector, isLater: Bool
    ) throws -> (CarriedWord, Member) {
        let own = try TestStore()
        let store = own.store
        try store.setMembers([Self.device])
        try store.noteMember(Self.device, replica: Self.first, durable: known)
        let seen = try #require(try store.members().first).seenMilliseconds
        let made = isLater ? seen + 1 : seen - 7_200_000
        let word = try store.noteMember(Self.device, replica: replica, vector: vector, durable: vector, madeMilliseconds: made)
        return (word, try #require(try store.members().first))
    }

    @Test func `of one replica more counts for more, whatever its clock says, and less that is later makes it doubted`() throws {
        let (known, more) = (Self.vector((Self.first, 1), (Self.other, 5)), Self.vector((Self.first, 2), (Self.other, 5)))
        let less = Self.vector((Self.other, 4))
        for (said, isLater, expected) in [
            (more, true, CarriedWord.newest), (more, false, .newest), (known, true, .newest), (known, false, .unclear),
            (less, true, .unclear), (less, false, .older),
        ] {
            let (word, member) = try word(after: known, Self.first, said, isLater: isLater)
            // Its store may have been set back, and have noticed nothing.
            let isDoubted = said == less && isLater
            #expect(word == expected && member.replica == (isDoubted ? nil : Self.first), "\(said) \(isLater)")
            #expect(member.durable == (isDoubted ? VersionVector() : word == .newest ? said : known), "\(said) \(isLater)")
        }
    }

    @Test func `of another replica, nothing is known unless its clock tells that it came later`() throws {
        let known = Self.vector((Self.first, 3), (Self.other, 5))
        // It is empty, or has got back what others have.
        for said in [VersionVector(), Self.vector((Self.other, 4)), Self.vector((Self.first, 3), (Self.second, 1), (Self.other, 9))] {
            let (later, now) = try word(after: known, Self.second, said, isLater: true)
            #expect(later == .newest && now.replica == Self.second && now.durable == said)
            let (unclear, both) = try word(after: known, Self.second, said, isLater: false)
            #expect(unclear == .unclear && both.replica == nil && both.durable.isEmpty)
        }
    }

    @Test func `a replica from before the one that was heard takes nothing back, and adds nothing`() throws {
        let known = Self.vector((Self.first, 3), (Self.second, 2), (Self.other, 5))
        let said = Self.vector((Self.second, 1), (Self.other, 9))
        let (older, member) = try word(after: known, Self.second, said, isLater: false)
        #expect(older == .older && member.replica == Self.first && member.durable == known)
        // The machine has gone back to it, or its clock was ahead then.
        let (unclear, both) = try word(after: known, Self.second, said, isLater: true)
        #expect(unclear == .unclear && both.replica == nil && both.durable.isEmpty)
    }

    @Test func `what one replica called durable before it was set back is not added to what it says since`() throws {
        let (known, before) = (Self.vector((Self.first, 1), (Self.other, 1)), Self.vector((Self.other, 5)))
        let (word, member) = try word(after: known, Self.first, before, isLater: false)
        #expect(word == .older && member.replica == Self.first && member.durable == known)
    }

    @Test func `in doubt no old word counts, whoever said it, until one comes that is later`() throws {
        let own = try TestStore()
        let store = own.store
        let (known, said) = (Self.vector((Self.first, 3)), Self.vector((Self.second, 3)))
        try store.setMembers([Self.device])
        // It is first heard by a file, from a clock that is behind.
        func note(_ replica: ReplicaID, _ vector: VersionVector, at made: Int64) throws -> CarriedWord {
            try store.noteMember(Self.device, replica: replica, vector: vector, durable: vector, madeMilliseconds: made)
        }
        #expect(try note(Self.first, known, at: 1_000) == .newest && store.acknowledged(by: [Self.device]) == known)
        for _ in 0..<2 {
            for (replica, vector) in [(Self.second, said), (Self.first, known)] {
                #expect(try note(replica, vector, at: 2_000) == .unclear && store.acknowledged(by: [Self.device]).isEmpty)
            }
        }
        #expect(try note(Self.second, said, at: .max) == .newest && store.acknowledged(by: [Self.device]) == said)
        #expect(try note(Self.first, known, at: 1_000) == .unclear)
        try store.noteMember(Self.device, replica: Self.second, durable: said)
        #expect(try store.acknowledged(by: [Self.device]) == said)
    }

    @Test func `holdings that may be old are only taken away by`() throws {
        let own = try TestStore()
        let store = own.store
        let ids = try (1...3).map { try #require(AttachmentID(bytes: Array(repeating: UInt8($0), count: 32))) }
        try store.setMembers([Self.device])
        func news(_ ids: [AttachmentID]) -> HoldingNews {
            var news = HoldingNews()
            news.hear(AttachmentHoldings(.only, ids))
            return news
        }
        try store.noteHoldings(news([ids[0], ids[1]]), of: Self.device)
        try store.noteHoldings(news([ids[1], ids[2]]), of: Self.device, isCertain: false)
        let held = try own.database.read { try Data.fetchAll($0, sql: "SELECT attachment FROM kith_holding") }
        #expect(held == [Data(ids[1].bytes)])
    }
}
