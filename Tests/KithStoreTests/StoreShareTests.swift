import GRDB
import KithCausality
import KithStore
import Testing

/// Risk: a file grows, and nobody can tell which device fills it.
@Suite struct StoreShareTests {
    @Test func `whoever fills the store is named first, with what is shown and what is not`() throws {
        let (notes, friend) = (try TestStore(), try TestStore())
        for number: UInt64 in 1...3 { try notes.execute("INSERT INTO note (id, title) VALUES (?, 'own')", [key(number)]) }
        try friend.execute("INSERT INTO note (id, title) VALUES (?, printf('%010000d', 1))", [key(10)])
        try friend.execute("INSERT INTO note (id, title) VALUES (?, printf('%05000d', 1))", [key(11)])
        try friend.execute("DELETE FROM note WHERE id = ?", [key(11)])
        try notes.store.setMembers([[1]])
        try notes.store.noteMember([1], replica: try friend.store.summary().replica, durable: try friend.store.vector())
        try notes.receive(from: friend)
        let shares = try notes.store.size().shares
        #expect(shares.map(\.author) == [.device([1]), .own])
        let (first, own) = (try #require(shares.first), try #require(shares.last))
        #expect(first.rows == 1 && (10_000..<10_200).contains(first.bytes) && first.hiddenBytes > 5_000)
        #expect(own.rows == 3 && own.bytes < 200 && own.hiddenBytes == 0)
    }

    @Test func `whoever has written most of the histories of texts is named, in whosever rows, packed or not`() throws {
        let (notes, friend) = (try TextStore(1), try TextStore(2))
        try notes.insert("a page", row: 1)
        try friend.receive(from: notes)
        // More changes than are kept one by one.
        for number in 0..<600 { try friend.save("a page, for the \(number)th time, with words", row: 1) }
        try notes.receive(from: friend)
        try notes.save("a page of one word more", row: 1)
        try notes.store.setMembers([[2]])
        try notes.store.noteMember([2], replica: try friend.store.summary().replica, durable: try friend.store.vector())
        let shares = try notes.store.size().shares
        let (own, other) = (shares.first { $0.author == .own }, shares.first { $0.author == .device([2]) })
        #expect(try notes.count("SELECT count(*) FROM kith_text_chunk") > 0)
        #expect(try #require(other).textBytes > 10 * #require(own).textBytes && shares.first == other)
    }
}
