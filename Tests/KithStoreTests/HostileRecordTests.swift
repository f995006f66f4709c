import GRDB
import KithCausality
import KithStore
import KithSync
import KithText
import TestSupport
import Testing

@Suite("What a member says of a row in good form makes a record that nobody can read, send or explain")
struct HostileRecordTests {
    private static let mallory = ReplicaID(high: 9, low: 9)
    private static let sql = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT DEFAULT 'untitled', tags TEXT NOT NULL DEFAULT '[]',
            views INTEGER NOT NULL DEFAULT 0, body TEXT)
        """
    private static let table = TrackedTable("note", sets: ["tags"], counters: ["views"], texts: ["body"])

    private let home: TestStore
    private let honest: TestStore

    init() throws {
        home = try TestStore(sql: Self.sql, tables: [Self.table])
        honest = try TestStore(sql: Self.sql, tables: [Self.table])
        try home.execute("INSERT INTO note (id, title, tags, body) VALUES (?, 'Tea', '[\"a\"]', 'text')", [key(1)])
        try home.execute("INSERT INTO note (id, title) VALUES (?, 'Other')", [key(2)])
        try honest.receive(from: home)
        try honest.execute("UPDATE note SET tags = '[\"a\",\"b\"]', body = 'more text' WHERE id = ?", [key(1)])
        try home.receive(from: honest)
    }

    private func stamp(_ dot: Dot) -> Stamp { Stamp(dot: dot, timestamp: HybridTimestamp(milliseconds: 1_700_000_000_000)) }

    /// Sends one row to home, as somebody who knows all that home knows, with commits of his own up to `last`.
    private func send(_ state: RowState, _ columns: [ColumnKey], isCut: Bool, last: UInt64, row: UInt64 = 1) throws {
        let summary = try home.store.summary()
        let head = Head(
            dot: Dot(replica: Self.mallory, sequence: last), timestamp: stamp(Dot(replica: Self.mallory, sequence: last)).timestamp)
        var slice = try home.store.delta(since: summary.vector)
        slice.vector = summary.vector.joined(with: VersionVector([head.dot]))
        slice.target = (slice.target.filter { $0.dot.replica != Self.mallory } + [head]).sorted { $0.dot < $1.dot }
        slice.tables = [TableSchema(name: Array("note".utf8), columns: columns)]
        slice.rows = [RowPart(table: 0, id: rowID(row), state: state, isCut: isCut)]
        slice.position = slice.rows[0].position(in: slice.tables)
        _ = try home.store.apply(slice)
    }

    /// Home, and who hears of it, go on.
    ///
    /// - Parameter isEqual: whether who comes new shows the same.
    private func expectSound(isEqual: Bool = true, _ location: SourceLocation = #_sourceLocation) throws {
        try home.expectSound(location)
        let newcomer = try TestStore(sql: Self.sql, tables: [Self.table])
        for store in [honest, newcomer] {
            let sessions = try SessionPair(home.store, store.store)
            try sessions.wait(seconds: 60)
            #expect(sessions.closings.isEmpty, sourceLocation: location)
            try store.expectSound(location)
        }
        _ = try home.store.trash()
        if !isEqual { return }
        let shown = "SELECT coalesce(title, '') || tags || views || coalesce(body, '') FROM note ORDER BY id"
        func rows(_ store: TestStore) throws -> [String] { try store.database.read { try String.fetchAll($0, sql: shown) } }
        let (own, theirs) = (try rows(home), try rows(newcomer))
        #expect(own == theirs, sourceLocation: location)
        #expect(try rows(home) == rows(honest), sourceLocation: location)
        #expect(try home.store.digest() == home.store.recomputedDigest(), sourceLocation: location)
    }

    @Test func `a deletion that knows who wrote a set, and not what`() throws {
        let (writer, own) = (try honest.store.summary().replica, Dot(replica: Self.mallory, sequence: 1))
        var removed = SetState(elements: [Array("2".utf8)], dot: own)
        _ = removed.set(to: [], dot: Dot(replica: Self.mallory, sequence: 2))
        var set = SetState(touched: VersionVector([Dot(replica: writer, sequence: 1)]))
        set.removed = removed.removed
        let tombstone = Tombstone(dot: Dot(replica: Self.mallory, sequence: 2), seen: VersionVector())
        let state = RowState(cells: [.init(column: 0, cell: .set(set))], tombstones: [tombstone])
        try send(state, [ColumnKey("tags", .set)], isCut: true, last: 2)
        try expectSound()
        // The row is edited all the same.
        try home.execute("UPDATE note SET title = 'Coffee' WHERE id = ?", [key(1)])
        try expectSound()
    }

    @Test func `a change of a text that nobody can apply, of which the text then says nothing`() throws {
        let writer = Dot(replica: try honest.store.summary().replica, sequence: 1)
        let author = Dot(replica: try home.store.summary().replica, sequence: 1)
        let (first, second) = (Dot(replica: Self.mallory, sequence: 1), Dot(replica: Self.mallory, sequence: 2))
        var far = TextOperations()
        far.insert("x", at: 1_000_000)
        let change = TextState.Change(stamp: stamp(first), parents: [], steps: far.encodedSteps, inserted: far.encodedText)
        let text = TextState(touched: VersionVector([first, writer]), present: [writer], changes: [change])
        let tombstone = Tombstone(dot: second, seen: VersionVector())
        let body = [ColumnKey("body", .text)]
        try send(RowState(cells: [.init(column: 0, cell: .text(text))], tombstones: [tombstone]), body, isCut: true, last: 2)
        let bare = TextState(touched: VersionVector([author, writer]), present: [writer])
        try send(RowState(cells: [.init(column: 0, cell: .text(bare))]), body, isCut: false, last: 3)
        // What it leaves out of the row is shown here still, and by nobody who comes new.
        try expectSound(isEqual: false)
    }

    @Test(arguments: 0..<7)
    func `a deletion of something else and then a row without its text, which stays on view or among the earlier values`(form: Int)
        throws
    {
        let author = Dot(replica: try home.store.summary().replica, sequence: 1)
        let writer = Dot(replica: try honest.store.summary().replica, sequence: 1)
        let tombstone = Tombstone(dot: Dot(replica: Self.mallory, sequence: 1), seen: VersionVector())
        try send(RowState(tombstones: [tombstone]), [], isCut: true, last: 1)
        let (title, body) = (ColumnKey("title", .register), ColumnKey("body", .text))
        let written = Cell.register(
            RegisterState(writes: [Write(stamp: stamp(Dot(replica: Self.mallory, sequence: 2)), value: .text("T"))]))
        var state = RowState(cells: [.init(column: 0, cell: written)])
        let text: TextState? =
            switch form {
            case 0: nil
            case 1: TextState()
            case 2: TextState(touched: VersionVector([author, writer]))
            case 3: TextState(touched: VersionVector([author, writer]), present: [writer])
            case 4: TextState(touched: VersionVector([author]), present: [author])
            case 5: TextState(touched: VersionVector([writer]), present: [writer])
            default: TextState(touched: VersionVector([writer]))
            }
        if let text { state.cells.append(.init(column: 1, cell: .text(text))) }
        try send(state, [title, body], isCut: false, last: 2)
        let shown = try home.database.read { try String.fetchOne($0, sql: "SELECT body FROM note WHERE id = ?", arguments: [key(1)]) }
        let earlier = try home.store.supersededValues(table: "note", id: rowID(1)).map(\.value)
        let trash = try home.store.trash().map { $0.values["body"] }
        #expect(shown == "more text" || earlier.contains(.text("more text")) || trash.contains(.text("more text")))
        try expectSound(isEqual: false)
    }

    @Test func `a cell without a commit in an answer to a comparison`() throws {
        let author = Dot(replica: try home.store.summary().replica, sequence: 1)
        for kind in [ColumnKind.register, .set, .text] {
            let written = Cell.register(RegisterState(writes: [Write(stamp: stamp(author), value: .text("y"))]))
            let state = RowState(cells: [.init(column: 0, cell: Cell(empty: kind)), .init(column: 1, cell: written)])
            var slice = try home.store.delta(since: home.store.vector())
            slice.since = VersionVector()
            slice.tables = [TableSchema(name: Array("junk".utf8), columns: [ColumnKey("x", kind), ColumnKey("y", .register)])]
            slice.rows = [RowPart(table: 0, id: rowID(7), state: state, isCut: false)]
            slice.position = slice.rows[0].position(in: slice.tables)
            _ = try home.store.perform(.mend(DigestRange(), with: slice))
        }
        let newcomer = try TestStore(sql: Self.sql, tables: [Self.table])
        let sessions = try SessionPair(home.store, newcomer.store)
        try sessions.wait(seconds: 60)
        #expect(sessions.closings.isEmpty)
        #expect(try newcomer.row(rowID(1))?["title"] as String? == "Tea")
    }

    @Test func `another time of a commit of home's own, told in a comparison`() throws {
        let summary = try home.store.summary()
        try home.execute("UPDATE note SET title = 'later' WHERE id = ?", [key(2)])
        let before = try home.store.delta(since: VersionVector())
        let dot = Dot(replica: summary.replica, sequence: 1)
        var slice = before
        var time: HybridTimestamp?
        for row in slice.rows.indices {
            for cell in slice.rows[row].state.cells.indices {
                guard case .register(var register) = slice.rows[row].state.cells[cell].cell else { continue }
                for write in register.writes.indices where register.writes[write].stamp.dot == dot {
                    time = register.writes[write].stamp.timestamp
                    register.writes[write].stamp = Stamp(dot: dot, timestamp: HybridTimestamp(milliseconds: 1_999_999_999_999))
                }
                slice.rows[row].state.cells[cell].cell = .register(register)
            }
        }
        guard case .mended(_, let changed) = try home.store.perform(.mend(DigestRange(), with: slice)) else { return #expect(Bool(false)) }
        #expect(!changed.isEmpty)
        let head = Head(dot: dot, timestamp: try #require(time))
        #expect(try home.store.verifyIdentity(head).replica == summary.replica)
    }

    @Test func `a row of home's own commit at another time, which home does not hold`() throws {
        let summary = try home.store.summary()
        let time = try #require(try time(of: 1, summary.replica))
        let head = Head(dot: Dot(replica: summary.replica, sequence: 1), timestamp: time)
        var slice = try home.store.delta(since: home.store.vector())
        slice.since = VersionVector()
        slice.tables = [TableSchema(name: Array("note".utf8), columns: [ColumnKey("title", .register)])]
        let register = RegisterState(writes: [Write(stamp: stamp(head.dot), value: .text("lie"))])
        slice.rows = [RowPart(table: 0, id: rowID(8), state: RowState(cells: [.init(column: 0, cell: .register(register))]), isCut: false)]
        slice.position = slice.rows[0].position(in: slice.tables)
        _ = try home.store.perform(.mend(DigestRange(), with: slice))
        #expect(try home.store.verifyIdentity(head).replica == summary.replica)
    }

    private func time(of sequence: UInt64, _ replica: ReplicaID) throws -> HybridTimestamp? {
        for row in try home.store.delta(since: VersionVector()).rows {
            for entry in row.state.cells {
                guard case .register(let register) = entry.cell else { continue }
                let write = register.writes.first { $0.stamp.dot == Dot(replica: replica, sequence: sequence) }
                if let write { return write.stamp.timestamp }
            }
        }
        return nil
    }

    private func change(_ sequence: UInt64, _ parents: [UInt64], _ text: String, restart: Int? = nil) -> TextState.Change {
        var operations = TextOperations()
        operations.insert(text, at: 0)
        return TextState.Change(
            stamp: stamp(Dot(replica: Self.mallory, sequence: sequence)),
            parents: parents.map { Dot(replica: Self.mallory, sequence: $0) }, replacedScalars: restart,
            steps: operations.encodedSteps, inserted: operations.encodedText)
    }

    private func sendText(_ changes: [TextState.Change], last: UInt64) throws {
        let dot = Dot(replica: Self.mallory, sequence: last)
        let text = TextState(touched: VersionVector([dot]), present: [dot], changes: changes)
        try send(RowState(cells: [.init(column: 0, cell: .text(text))]), [ColumnKey("body", .text)], isCut: false, last: last, row: 9)
    }

    @Test func `a new beginning of a text after one change and the one before it, and after one that never comes`() throws {
        try sendText([change(1, [], "hello"), change(2, [1], "x"), change(4, [1, 2, 3], "y", restart: 0)], last: 4)
        try expectSound(isEqual: false)
    }

    @Test func `two changes of a text by one commit`() throws {
        let changes = [change(1, [], "hello"), change(2, [1], "x"), change(2, [], "y", restart: 1_000), change(3, [2], "z")]
        try sendText(changes, last: 3)
        try expectSound()
    }
}
