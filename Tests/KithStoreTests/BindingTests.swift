import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

/// Risk: a store that learns whose it is forgets what it was, or cannot prove later what it holds.
@Suite struct BindingTests {
    private typealias Device = TestDevice

    private func offers(_ book: any ProofBook, _ vector: VersionVector) throws -> [ProofOffer] {
        try vector.entries.map { dot in ProofOffer(try book.proof(of: dot), isToldBefore: false) }
    }

    @Test func `a store that learns its device takes an id that names it, once, and stays what it was`() throws {
        let test = try TestStore(.pool)
        try test.execute("INSERT INTO note (id, title) VALUES (?, 'before')", [key(1)])
        let (before, incarnation) = (try test.store.summary().replica, try test.store.incarnation())
        #expect(!before.isOfDevice)
        try test.store.bind(to: Device(1))
        let after = try test.store.summary().replica
        #expect(after.isOfDevice && after != before)
        #expect(try test.store.incarnation() == incarnation)
        #expect(try test.store.authors()[before] == .own)
        try test.store.bind(to: Device(1))
        #expect(try test.store.summary().replica == after)
        // What it was before is signed for, too.
        let book = try test.store.bind(to: Device(1))
        let peer = try TestStore().store.bind(to: Device(2))
        try peer.take(try offers(book, try test.store.vector()))
        #expect(try test.store.vector()[before] == 1)
    }

    @Test func `who wrote is known from what proves it, also before its device is noted as a member, and after it is none any more`() throws
    {
        let (author, reader) = (try TestStore(), try TestStore())
        try author.store.bind(to: Device(1))
        try reader.store.bind(to: Device(2))
        try author.execute("INSERT INTO note (id, title) VALUES (?, 'new')", [key(1)])
        let replica = try author.store.summary().replica
        try reader.store.setMembers([Device(3).device(of: Device.key(3)) ?? []])
        #expect(try SessionPair(author.store, reader.store, areProven: true).closings.isEmpty)
        let device = try #require(Device(1).device(of: Device.key(1)))
        #expect(try reader.store.authors()[replica] == .device(device))
        try reader.store.setMembers([])
        #expect(try reader.store.authors()[replica] == .device(device))
    }

    @Test func `a store that takes another id because it was set back is another one`() throws {
        let test = try TestStore(.pool)
        try test.store.bind(to: Device(1))
        let (replica, incarnation) = (try test.store.summary().replica, try test.store.incarnation())
        let renewed = try test.store.renewIdentity(from: replica).replica
        #expect(renewed.isOfDevice && renewed != replica)
        #expect(try test.store.incarnation() != incarnation)
    }

    @Test func `a store that has not yet got what a peer says it has, and will prove, is not in sync with it`() throws {
        let (author, reader) = (try TestStore(), try TestStore())
        try author.store.bind(to: Device(1))
        try reader.store.bind(to: Device(2))
        for number: UInt64 in 1...50 { try author.execute("INSERT INTO note (id, title) VALUES (?, 'new')", [key(number)]) }
        for (first, second) in [(author, reader), (try TestStore(), author)] {
            if second === author { try first.store.bind(to: Device(3)) }
            let pair = try SessionPair(first.store, second.store, limits: SliceLimits(rowsMax: 10), areProven: true)
            #expect(pair.closings.isEmpty)
            #expect(pair.falselyInSyncCount == 0)
            #expect(pair.statuses.allSatisfy { $0?.isInSync == true })
        }
    }

    @Test(arguments: [false, true])
    func `a store that has not yet got what a peer will prove compares with it once all is here, and not before`(isReaderFirst: Bool) throws
    {
        let stores = [try TestStore(), try TestStore()]
        for (number, test) in stores.enumerated() { try test.store.bind(to: Device(UInt8(number + 1))) }
        // The one with the lower id leads; ids are random.
        let isFirstLower = try stores[0].store.summary().replica < stores[1].store.summary().replica
        let (reader, author) = isFirstLower == isReaderFirst ? (stores[0], stores[1]) : (stores[1], stores[0])
        for number: UInt64 in 1...50 { try author.execute("INSERT INTO note (id, title) VALUES (?, 'new')", [key(number)]) }
        let pair = try SessionPair(author.store, reader.store, areProven: true, readingMilliseconds: 3_000)
        try pair.wait(seconds: 2)
        #expect(pair.digestReadCount == 0)
        try pair.wait(seconds: 4)
        #expect(pair.closings.isEmpty)
        #expect(pair.statuses.allSatisfy { $0?.isIdentical == true })
    }

    @Test func `what came with a slice is proven still when the store is opened again`() throws {
        let (author, path) = (try TestStore(), try TemporaryFolder())
        let book = try author.store.bind(to: Device(1))
        try author.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        let vector = try author.store.vector()
        do {
            let first = try TestStore(.pool, folder: path)
            try first.store.bind(to: Device(2)).take(try offers(book, vector))
            try first.receive(from: author)
            first.store.close()
        }
        let again = try TestStore(.pool, folder: path)
        let kept = try again.store.bind(to: Device(2))
        #expect(kept.isComplete)
        let third = try TestStore().store.bind(to: Device(3))
        try third.take(try offers(kept, vector))
    }

    @Test func `a file on another device proves what was signed before an fsync, and says nothing of what was not`() throws {
        let folder = try TemporaryFolder()
        do {
            let first = try TestStore(.pool, folder: folder)
            try first.store.bind(to: Device(1))
            try first.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
            _ = try first.store.makeDurable()
            first.store.close()
        }
        let moved = try TestStore(.pool, folder: folder)
        #expect(try moved.store.bind(to: Device(2)).isComplete)
        // Another program writes as the first device, which never signs it.
        let second = try TemporaryFolder()
        do {
            let first = try TestStore(.pool, folder: second)
            try first.store.bind(to: Device(1))
            try first.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
            first.store.close()
        }
        let copy = try TestStore(.pool, folder: second)
        let book = try copy.store.bind(to: Device(2))
        #expect(!book.isComplete)
        #expect(book.sayable(try copy.store.vector()).isEmpty)
        #expect(try copy.row(rowID(1)) != nil)
    }

    /// A file that device 1 has written to without signing it, and where device 2 finds it.
    private func copyOfUnsigned(_ folder: TemporaryFolder) throws -> TestStore {
        let first = try TestStore(.pool, folder: folder)
        try first.store.bind(to: Device(1))
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'unsigned')", [key(1)])
        first.store.close()
        return try TestStore(.pool, folder: folder)
    }

    @Test func `a copy that cannot prove what it holds stays connected, receives, and sends once its device is no member any more`() throws
    {
        let folder = try TemporaryFolder()
        let (copy, peer) = (try copyOfUnsigned(folder), try TestStore())
        try copy.store.bind(to: Device(2))
        try peer.store.bind(to: Device(3))
        try peer.execute("INSERT INTO note (id, title) VALUES (?, 'theirs')", [key(2)])
        let mute = try SessionPair(copy.store, peer.store, areProven: true)
        try mute.wait(seconds: 120)
        #expect(mute.closings.isEmpty)
        #expect(try copy.row(rowID(2)) != nil)
        #expect(try peer.row(rowID(1)) == nil)
        #expect(try copy.store.bind(to: Device(2)).silencing == [Device(1).device(of: Device.key(1))])
        // The device is removed, as both learn.
        try copy.store.bind(to: Device(2, ended: [1: 1]))
        try peer.store.bind(to: Device(3, ended: [1: 1]))
        let pair = try SessionPair(copy.store, peer.store, areProven: true)
        try pair.wait(seconds: 120)
        #expect(pair.closings.isEmpty)
        #expect(try peer.row(rowID(1)) != nil)
        #expect(pair.statuses.allSatisfy { $0?.isIdentical == true })
        // Whoever heard of it proves it to others.
        let third = try TestStore()
        try third.store.bind(to: Device(4, ended: [1: 1]))
        #expect(try SessionPair(peer.store, third.store, areProven: true).closings.isEmpty)
        #expect(try third.row(rowID(1)) != nil)
    }

    @Test func `a device that was removed and has come back writes under an id for which nobody may vouch`() throws {
        let test = try TestStore(.pool)
        let book = try test.store.bind(to: Device(1))
        try test.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        let before = try test.store.summary().replica
        try test.store.bind(to: Device(1, ended: [1: 1]))
        let after = try test.store.summary().replica
        #expect(after != before)
        #expect(try test.store.authors()[before] == .own)
        try test.execute("INSERT INTO note (id) VALUES (?)", [key(2)])
        #expect(try book.proof(of: Dot(replica: after, sequence: 1)).origin.round == 1)
        #expect(try book.proof(of: Dot(replica: before, sequence: 1)).voucher == nil)
        #expect(try test.store.bind(to: Device(1, ended: [1: 1])) === book)
        #expect(try test.store.summary().replica == after)
    }

    @Test func `what a session takes after the key was renewed is kept`() throws {
        let (author, path) = (try TestStore(), try TemporaryFolder())
        let theirs = try author.store.bind(to: Device(3))
        try author.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        let vector = try author.store.vector()
        do {
            let first = try TestStore(.pool, folder: path)
            // A session has this book for as long as it lasts.
            let old = try first.store.bind(to: Device(1))
            try first.execute("INSERT INTO note (id, title) VALUES (?, 'b')", [key(2)])
            try first.store.bind(to: Device(2, earlier: 1))
            try old.take(try offers(theirs, vector))
            try first.receive(from: author)
            first.store.close()
        }
        let again = try TestStore(.pool, folder: path)
        let kept = try again.store.bind(to: Device(2, earlier: 1))
        #expect(kept.isComplete)
        let third = try TestStore().store.bind(to: Device(4))
        try third.take(try offers(kept, try again.store.vector()))
    }

    @Test func `what a store has pulled it can prove later`() throws {
        let (author, puller) = (try TestStore(), try TestStore())
        try author.store.bind(to: Device(1))
        try author.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try puller.store.pull(from: author.store)
        let book = try puller.store.bind(to: Device(2))
        #expect(book.isComplete)
        let third = try TestStore().store.bind(to: Device(3))
        try third.take(try offers(book, try puller.store.vector()))
    }

    @Test func `a commit becomes durable though it cannot be signed`() throws {
        let test = try TestStore(.pool)
        try test.store.bind(to: Device(1))
        try test.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try test.execute("PRAGMA query_only = 1")
        #expect(try test.store.makeDurable() == test.store.vector())
    }
}
