import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

/// Risk: a member fills one row with two replicas of its own, each within the limits, and the stores that merge both can send
/// nothing any more.
@Suite struct OvergrownRowTests {
    private static let concurrent = UInt64(WireLimits.concurrentMax)
    private static let replicas = [ReplicaID(high: 9, low: 1), ReplicaID(high: 9, low: 2)]
    /// Long before the stores write, so that what they wrote is shown.
    private static let time = HybridTimestamp(milliseconds: 1_600_000_000_000)

    private static func dots(_ replica: ReplicaID) -> [Dot] { (1...concurrent).map { Dot(replica: replica, sequence: $0) } }

    /// What a replica brings of rows that it says it alone knows.
    private static func slice(
        _ replica: ReplicaID, commits: UInt64 = concurrent, _ columns: [ColumnKey], _ states: [RowState], table: String = "note"
    ) -> Slice {
        let last = Dot(replica: replica, sequence: commits)
        return Slice(
            since: VersionVector(), vector: VersionVector([last]), target: [Head(dot: last, timestamp: time)], clock: time, isFirst: true,
            isLast: true, position: nil, rowsRemaining: 0, tables: [TableSchema(name: Array(table.utf8), columns: columns)],
            rows: states.enumerated().map { RowPart(table: 0, id: rowID(UInt64($0.offset + 1)), state: $0.element) })
    }

    private static func register(_ replica: ReplicaID, _ value: ColumnValue, commits: Int = .max) -> Cell {
        .register(
            RegisterState(writes: dots(replica).prefix(commits).map { Write(stamp: Stamp(dot: $0, timestamp: time), value: value) }))
    }

    private static func set(_ replica: ReplicaID, _ elements: [SetState.Element]) -> Cell {
        .set(SetState(elements: elements, touched: VersionVector([Dot(replica: replica, sequence: concurrent)])))
    }

    /// A store with a note of its own, which takes what each of the replicas brings, and another row.
    private static func filled(
        isDeleted: Bool = false, by part: (ReplicaID) -> (ColumnKey, Cell)?, tombstones: (ReplicaID) -> [Tombstone] = { _ in [] }
    ) throws -> TestStore {
        let store = try TestStore()
        try store.execute("INSERT INTO note (id, title, tags, views) VALUES (?, 'mine', '[\"mine\"]', 3)", [key(1)])
        if isDeleted { try store.execute("DELETE FROM note") }
        for replica in replicas {
            let cell = part(replica)
            let state = RowState(cells: cell.map { [.init(column: 0, cell: $0.1)] } ?? [], tombstones: tombstones(replica))
            guard case .applied = try store.store.apply(slice(replica, cell.map { [$0.0] } ?? [], [state])) else {
                throw StoreError(.failed, "refused")
            }
        }
        try store.execute("INSERT INTO note (id, title) VALUES (?, 'another')", [key(2)])
        return store
    }

    /// Somebody new gets all that the store has, and both are sound.
    @discardableResult
    private func expectSent(_ store: TestStore, _ location: SourceLocation = #_sourceLocation) throws -> TestStore {
        let other = try TestStore()
        let sessions = try SessionPair(store.store, other.store)
        #expect(sessions.closings == [], sourceLocation: location)
        #expect(try other.store.vector() == store.store.vector(), sourceLocation: location)
        #expect(try other.store.digest() == store.store.digest(), sourceLocation: location)
        #expect(try other.row(rowID(2))?["title"] == "another", sourceLocation: location)
        try store.expectSound(location)
        try other.expectSound(location)
        return other
    }

    @Test func `a register with too many concurrent writes keeps what it shows, and what lost once`() throws {
        let store = try Self.filled { (ColumnKey("title", .register), Self.register($0, .text("theirs"))) }
        let other = try expectSent(store)
        for holder in [store, other] {
            #expect(try holder.row(rowID(1))?["title"] == "mine")
            #expect(try holder.store.alternatives(table: "note", id: rowID(1)).map(\.value) == [.text("theirs")])
        }
    }

    @Test func `a deleted row with too many writes stays deleted, and keeps its contents`() throws {
        let store = try Self.filled(isDeleted: true) {
            (ColumnKey("title", .register), Self.register($0, .text("theirs")))
        } tombstones: {
            let last = Dot(replica: $0, sequence: Self.concurrent)
            return [Tombstone(dot: last, seen: VersionVector([last]))]
        }
        let other = try expectSent(store)
        for holder in [store, other] {
            #expect(try holder.row(rowID(1)) == nil)
            #expect(try holder.store.trash().first?.values["title"] == .text("mine"))
        }
    }

    @Test func `a row of a table that nobody declared here is passed on`() throws {
        let store = try TestStore()
        for replica in Self.replicas {
            let state = RowState(cells: [.init(column: 0, cell: Self.register(replica, .text("x")))])
            _ = try store.store.apply(Self.slice(replica, [ColumnKey("a", .register)], [state], table: "unknown"))
        }
        try store.execute("INSERT INTO note (id, title) VALUES (?, 'another')", [key(2)])
        let other = try expectSent(store)
        #expect(try other.state(rowID(1), table: "unknown")?.cell("a")?.dots.count == 1)
    }

    @Test func `of a set with too many elements those go whose author has the most`() throws {
        let store = try Self.filled { replica in
            let elements = (1...60_000).map { number in
                SetState.Element(
                    json: Array("\"\(replica.low)-\(100_000 + number)\"".utf8),
                    dots: [Dot(replica: replica, sequence: UInt64(number % 4_000 + 1))])
            }
            return (ColumnKey("tags", .set), Self.set(replica, elements))
        }
        let shown = try store.store.supersededValues(table: "note", id: rowID(1))
        #expect(shown.map(\.column) == ["tags"])
        let other = try expectSent(store)
        let tags: String = try #require(try other.row(rowID(1))?["tags"])
        let elements = try JSONDecoder().decode([String].self, from: Data(tags.utf8))
        #expect(elements.count == WireLimits.setElementsMax)
        #expect(elements.contains("mine"))
        #expect(elements.count { $0.hasPrefix("2-") } >= 49_999)
    }

    @Test func `an element that too many commits have added stays`() throws {
        let store = try Self.filled { replica in
            (ColumnKey("tags", .set), Self.set(replica, [.init(json: Array("\"x\"".utf8), dots: Self.dots(replica))]))
        }
        // Two replicas add one element: each brings its own dots.
        let other = try expectSent(store)
        #expect(try other.row(rowID(1))?["tags"] == "[\"mine\",\"x\"]")
    }

    @Test func `found elements of a set, and found values of a counter, may be too many`() throws {
        var store = try Self.filled { replica in
            let found = (1...60_000).map { Array("\"\(replica.low)-\(100_000 + $0)\"".utf8) }
            let last = Dot(replica: replica, sequence: Self.concurrent)
            return (ColumnKey("tags", .set), .set(SetState(adopted: found, adopters: VersionVector([last]))))
        }
        let tags: String = try #require(try expectSent(store).row(rowID(1))?["tags"])
        #expect(tags.contains("\"mine\""))
        store = try Self.filled { replica in
            let bases = Self.dots(replica).map {
                CounterState.Base(stamp: Stamp(dot: $0, timestamp: Self.time, isAdopted: true), amount: Int64($0.sequence))
            }
            return (ColumnKey("views", .counter), .counter(CounterState(bases: bases)))
        }
        #expect(try expectSent(store).row(rowID(1))?["views"] == 3)
    }

    @Test func `too many deletions of a row that an edit brought back are one, and the row stays`() throws {
        let store = try Self.filled { _ in
            nil
        } tombstones: {
            Self.dots($0).map { Tombstone(dot: $0, seen: VersionVector()) }
        }
        #expect(try store.row(rowID(1))?["title"] == "mine")
        #expect(try expectSent(store).row(rowID(1))?["title"] == "mine")
    }

    @Test func `a text that too many commits gave its cell stays`() throws {
        let store = try TextStore(1)
        try store.insert("good text")
        for replica in Self.replicas {
            let last = Dot(replica: replica, sequence: Self.concurrent)
            let text = TextState(touched: VersionVector([last]), present: Self.dots(replica))
            let state = RowState(cells: [.init(column: 0, cell: .text(text))])
            _ = try store.store.apply(Self.slice(replica, [ColumnKey("body", .text)], [state], table: "page"))
        }
        let other = try TextStore(2)
        #expect(try SessionPair(store.store, other.store).closings == [])
        #expect(try other.body() == "good text")
        try store.expectSound()
        try other.expectSound()
    }

    @Test func `of too many found texts those stay that would be shown first`() throws {
        let store = try TextStore(1)
        try store.insert("good text")
        for replica in Self.replicas {
            let last = Dot(replica: replica, sequence: Self.concurrent)
            var adopted = AdoptedTexts(adopters: VersionVector([last]))
            adopted.documents = (1...UInt64(1_024)).map {
                AdoptedTexts.Document(
                    number: Int64($0 * 2 + replica.low % 2),
                    found: Stamp(dot: Dot(replica: replica, sequence: $0), timestamp: Self.time, isAdopted: true))
            }
            var text = TextState()
            text.adopted = adopted
            let state = RowState(cells: [.init(column: 0, cell: .text(text))])
            _ = try store.store.apply(Self.slice(replica, [ColumnKey("body", .text)], [state], table: "page"))
        }
        let other = try TextStore(2)
        #expect(try SessionPair(store.store, other.store).closings == [])
        #expect(try other.body() == "good text")
    }

    @Test func `a row that is larger than a frame waits alone, and goes once it is smaller`() throws {
        let store = try TestStore()
        try store.execute("INSERT INTO note (id, title) VALUES (?, 'mine')", [key(1)])
        let large = ColumnValue.blob([UInt8](repeating: 7, count: 60 << 20))
        for (replica, column) in zip(Self.replicas, ["title", "color"]) {
            let time = HybridTimestamp(milliseconds: 1_800_000_000_000)
            func write(_ sequence: UInt64, _ value: ColumnValue) -> RowState {
                let write = Write(stamp: Stamp(dot: Dot(replica: replica, sequence: sequence), timestamp: time), value: value)
                return RowState(cells: [.init(column: 0, cell: .register(RegisterState(writes: [write])))])
            }
            _ = try store.store.apply(
                Self.slice(replica, commits: 2, [ColumnKey(column, .register)], [write(1, large), write(2, .text("of \(column)"))]))
        }
        let other = try TestStore()
        let sessions = try SessionPair(store.store, other.store)
        #expect(sessions.closings == [])
        #expect(sessions.statuses[0]?.withheld == [SlicePosition(table: Array("note".utf8), row: rowID(1))])
        #expect(try other.row(rowID(1)) == nil)
        #expect(try other.row(rowID(2))?["title"] == "of title")
        #expect(try other.row(rowID(2))?["color"] == "of color")
        // It does not say that it knows what it was not sent.
        for replica in Self.replicas { #expect(try other.store.vector()[replica] == 0) }
        // What is written meanwhile goes through, in both directions.
        try store.execute("INSERT INTO note (id, title) VALUES (?, 'later')", [key(3)])
        try other.execute("UPDATE note SET title = 'answered' WHERE id = ?", [key(2)])
        let sent = sessions.statuses[0]?.rowsSent ?? 0
        try sessions.hear()
        #expect(sessions.statuses[0]?.rowsSent == sent + 1)
        #expect(try other.row(rowID(3))?["title"] == "later")
        #expect(try store.row(rowID(2))?["title"] == "answered")
        try sessions.wait(seconds: 120)
        #expect(sessions.closings == [])
        #expect(sessions.statuses[0]?.rowsSent == sent + 1)
        // A new session brings nothing else about.
        #expect(try SessionPair(other.store, store.store).closings == [])
        #expect(try store.row(rowID(1)) != nil)
        try store.execute("UPDATE note SET title = 'small' WHERE id = ?", [key(1)])
        try sessions.hear()
        #expect(sessions.closings == [])
        #expect(sessions.statuses[0]?.withheld == [])
        #expect(try other.row(rowID(1))?["title"] == "small")
        #expect(try other.store.vector() == store.store.vector())
        #expect(try other.store.digest() == store.store.digest())
        try store.expectSound()
        try other.expectSound()
    }
}
