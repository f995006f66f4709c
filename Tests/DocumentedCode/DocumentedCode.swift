import Foundation
import GRDB
import Kith
import KithText

// The code of the README and of docs/, compiled: `DocumentedCodeTests` finds each block of them here, line by line. Never run.

struct Item: Codable, Identifiable, Hashable, Sendable, FetchableRecord, PersistableRecord {
    var id = UUID()
    var title: String
    var shop = ""
    var position = ""
    var due: Date?
}

func threeLines(_ migrator: DatabaseMigrator) async throws {
    let app = try await SyncedApp.open("org.example.pantry", migrator: migrator, tables: [TrackedTable("item", sets: ["shops"])])
    try await app.database.write { db in try Item(title: "Milk").insert(db) }  // your GRDB
    app.start()  // finds the other devices; stop() and start() again at will
}

func places(_ migrator: DatabaseMigrator, tables: [TrackedTable], folder: URL, file: URL, pool: DatabasePool) async throws {
    _ = try await SyncedApp.open("org.example.pantry", migrator: migrator, tables: tables, at: .folder(folder))
    _ = try await SyncedApp.open("org.example.pantry", migrator: migrator, tables: tables, at: .database(file))  // adopts what is in it
    _ = try SyncedApp("org.example.pantry", database: pool, migrator: migrator, tables: tables)  // one that the app has opened
}

func openOrRecover(_ migrator: DatabaseMigrator, tables: [TrackedTable], ask: (SyncedAppError) -> SyncedApp.Recovery?) async throws {
    var options = SyncedApp.Options()
    do {
        _ = try await SyncedApp.open("org.example.pantry", migrator: migrator, tables: tables)
    } catch {
        options.recovery = ask(error)  // one of error.recoveries
        _ = try await SyncedApp.open("org.example.pantry", migrator: migrator, tables: tables, options: options)
    }
}

func twoDevices(_ migrator: DatabaseMigrator) async throws {
    let (phone, laptop) = try await SyncedApp.pair(tables: [TrackedTable("item", sets: ["shops"])], migrator: migrator)
    try await phone.database.write { db in try Item(title: "Milk").insert(db) }
    try await phone.meet(laptop)
    let titles = try await laptop.database.read { db in try Item.fetchAll(db).map(\.title) }
    precondition(titles == ["Milk"])
}

func monitor(
    _ app: SyncedApp, show: (String) -> Void, offerToPair: () -> Void, warn: (String) -> Void
) async {
    for await status in app.statuses {
        switch status.reason {
        case nil: show(status.sentence)  // up to date, synchronising, connecting
        case .noDevice: offerToPair()
        case .storeFails(let error): warn(error)
        case .noNetwork, .notReachable: show("Offline. Changes are kept.")
        case let reason?: show([reason.remedy, status.sentence].compactMap(\.self).joined(separator: " "))
        }
    }
    for await event in app.node.events where event.phase == .ended {
        print(event.kind, event.peer.map(\.shortDescription) ?? "", event.rows, event.bytes, event.elapsed)
    }
}

func pairing(_ app: SyncedApp, show: (String) -> Void, ask: (String) async -> Bool) async {
    for await step in app.pair() {
        switch step {
        case .waiting: show("Do the same on the other device.")
        case .compare(let question): await question.answer(isSame: ask("Does it show \(question.digits), too?"))
        case .paired(let device): show("Paired with \(device.name).")
        case .failed(let end): show(end.sentence)
        case .notFound, .retry: break
        }
    }
}

func badges(_ app: SyncedApp, choose: @escaping @Sendable ([Conflict.Version]) -> Conflict.Version?) async throws {
    let list = ValueObservation.tracking { db in
        (items: try Item.fetchAll(db), conflicts: Set(try app.store.conflicts(db).map(\.uuid)))
    }
    try await app.database.write { db in
        guard let conflict = try app.store.conflicts(db).first, let version = choose(conflict.versions) else { return }
        try app.store.resolve(db, conflict, keeping: version)
        try db.execute(sql: "INSERT INTO log (id, item) VALUES (?, ?)", arguments: [UUID(), conflict.uuid])
    }
    _ = list
}

func checkTables(_ queue: DatabaseQueue, tables: [TrackedTable]) throws {
    let check = try SyncedDatabase.check(queue, tables: tables)
    for problem in check.problems { print(problem.message, problem.sql ?? "") }
}

func lists(
    _ app: SyncedApp, item: Item, token: HistoryToken?, apply: (LiveDifference<UUID>) -> Void, show: (LiveRows<Item>) -> Void,
    note: (HistoryChange) -> Void
) async throws -> UndoReport? {
    for try await change in app.live(Item.order(Column("title"))) {
        apply(change.difference)  // by id
        show(change.rows)
    }

    let page = try app.store.history(after: token, excluding: ["widget"])
    for transaction in page { for change in transaction.changes { note(change) } }

    let undo = app.undo(scope: "editor")
    try undo.group("Move to freezer") { db in try item.update(db) }
    let report = try undo.undo()
    return report
}

func composed(_ database: DatabasePool, key: DeviceKey, trust: TrustStore) async throws {
    let store = try SyncedDatabase(database, tables: [TrackedTable("note", sets: ["tags"], texts: ["body"])])
    let node = Node(store: store, key: key, trust: trust, configuration: NodeConfiguration(app: "org.example.notebook"))
    try await node.run()
}

func migrations() throws -> SyncedDatabase {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("v1") { db in
        try db.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, color TEXT, body TEXT)")
    }
    migrator.registerMigration("v2") { db in
        try db.execute(sql: "UPDATE note SET title = trim(title)")
        try db.execute(sql: "ALTER TABLE note ADD COLUMN summary TEXT")
        try db.execute(sql: "UPDATE note SET summary = substr(body, 1, 80)")
        try db.execute(sql: "ALTER TABLE note DROP COLUMN color")
    }
    let pool = try DatabasePool(path: "notes.sqlite")
    let store = try SyncedDatabase(pool, tables: [TrackedTable("note", texts: ["body", "summary"])], migrator: migrator)
    return store
}

func attachments(
    _ database: DatabasePool, photo: Data, url: URL, show: (URL) -> Void, showProgress: (_ received: Int64, _ of: Int64?) -> Void,
    offer: (Int64?) -> Void, showThatItIsFetchedAgain: () -> Void
) throws {
    let store = try SyncedDatabase(database, tables: [TrackedTable("photo", attachments: ["file"])])
    let id = try store.attach(contentsOf: url)
    try database.write { try $0.execute(sql: "UPDATE photo SET file = ? WHERE id = ?", arguments: [id.description, photo]) }

    switch store.attachmentState(id) {
    case .present(let file): show(file.url)
    case .onItsWay(let received, let size): showProgress(received, size)
    case .notFetched(let size): offer(size)  // store.fetchAttachment(id), or: try await store.attachment(id)
    case .damaged: showThatItIsFetchedAgain()
    }
}

func texts(
    _ me: ReplicaID, changesFromAPeer: [TextChange], loaded: TextBuffer, saved: TextBuffer, next: Dot
) throws -> (TextMerge, TextDocument) {
    var mine = TextDocument()
    try mine.edit([.insert("Milk", at: 0)], as: Dot(replica: me, sequence: 1))

    let outcome = try mine.merge(changesFromAPeer)  // appended, patch, rejected, pending, known

    let base = mine.version  // an editor opens the text …
    let operations = TextOperations(from: loaded, to: saved)
    try mine.edit(operations, at: base, as: next)  // … and saves an hour later
    return (outcome, mine)
}

@MainActor final class ItemTable {
    func apply(_ difference: LiveDifference<UUID>) {}
}

@MainActor func liveLists(_ store: SyncedDatabase, table: ItemTable) async throws {
    var list: LiveRows<Item>?
    for try await change in store.live(Item.order(Column("position"))) {
        table.apply(change.difference)
        list = change.rows
    }
    _ = list
}

func journal(
    _ store: SyncedDatabase, token: HistoryToken, show: (HistoryChange.Kind, [String: HistoryChange.Column], Author?) -> Void
) throws -> [TrackedTable] {
    let tables = [TrackedTable("item", texts: ["body"], journal: .days(30))]
    let page = try store.history(after: token, tables: ["item"], excluding: ["widget"])
    for transaction in page {
        for change in transaction.changes { show(change.kind, change.columns, change.device) }
    }
    return tables
}

func undo(_ store: SyncedDatabase, item: Item) throws -> UndoReport? {
    let undo = store.undo(scope: "editor")
    try undo.group("Move to freezer") { db in try item.update(db) }
    let report = try undo.undo()
    return report
}

func snapshots(_ app: SyncedApp, url: URL) async throws {
    let top = app.snapshot("top", to: url) { db in try Item.order(Column("title")).limit(5).fetchAll(db) }
    try top.write()  // once
    await top.run()  // until the task is cancelled
    let due = app.snapshot("due", to: url) { db in
        let tasks = try Item.order(Column("title")).fetchAll(db)
        return SnapshotContent(tasks, nextMoment: tasks.compactMap(\.due).filter { $0 > Date() }.min())
    }
    await due.run()
}

func reading(url: URL, showPlaceholder: () -> Void) {
    func show(_ items: [Item], asOf date: Date? = nil) {}
    switch SnapshotReader(url).rows(of: Item.self) {
    case .ok(let top): show(top.content)
    case .stale(let top): show(top.content, asOf: top.date)
    case .missing, .damaged, .newer: showPlaceholder()
    }
}

func orderByHand(_ app: SyncedApp, _ db: Database, milk: Item, tea: Item, salt: Item) throws {
    let tables = [TrackedTable("item", position: "position")]  // position TEXT NOT NULL DEFAULT ''
    let list = Item.order(sql: Position.orderSQL("position"))
    try app.move(db, [milk.id, tea.id], to: .after(salt.id), in: "item")
    try db.execute(sql: "CREATE INDEX item_by_position ON item (\(Position.orderSQL("position")), id)")
    _ = (tables, list)
}
