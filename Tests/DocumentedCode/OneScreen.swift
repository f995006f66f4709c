import Foundation
import GRDB
import Kith

// The code of docs/llms.txt, compiled like that of the other pages.

func opening(_ migrator: DatabaseMigrator, item: Item) async throws {
    let app = try await SyncedApp.open(
        "org.example.pantry", migrator: migrator,
        tables: [
            TrackedTable("item", sets: ["shops"], counters: ["count"], texts: ["notes"], attachments: ["photo"]),
            TrackedTable("day", key: ["date"]),
        ], at: .standard)
    try await app.database.write { db in try item.insert(db) }
    app.start()
    await app.stop()
}

func watching(_ app: SyncedApp, show: (String) -> Void, ask: (String) async -> Bool) async throws -> Safety {
    for await step in app.pair() {
        switch step {
        case .waiting: show("Do the same on the other device.")
        case .compare(let question): await question.answer(isSame: ask(question.digits))
        case .paired(let device): show(device.name)
        case .failed(let end): show(end.sentence)
        case .notFound, .retry: break
        }
    }
    for device in app.household.devices { show("\(device.name) \(device.isConnected) \(device.isInSync)") }
    if let reason = app.status.reason { show("\(reason)") }
    for await status in app.statuses { show(status.sentence) }
    for await event in app.node.events { print(event.kind, event.phase, event.rows, event.bytes, event.elapsed) }
    let safety = try app.safety()
    return safety
}

func declared() -> TrackedTable {
    TrackedTable("item", position: "position", journal: .days(30))
}

func listsOnOneScreen(
    _ app: SyncedApp, token: HistoryToken?, a: UUID, b: UUID, c: UUID, url: URL, apply: (LiveDifference<UUID>) -> Void
) async throws -> ([HistoryTransaction], UndoReport?) {
    for try await change in app.live(Item.order(sql: Position.orderSQL("position"))) {
        apply(change.difference)
    }
    let transactions = try app.store.history(after: token)
    let undo = app.undo(scope: "editor")
    try undo.group("Move") { db in try app.move(db, [a, b], to: .after(c), in: "item") }
    let report = try undo.undo()
    try app.snapshot("top", to: url) { db in try Item.limit(5).fetchAll(db) }.write()
    return (transactions, report)
}

func beside(
    _ app: SyncedApp, id: UUID, edited: String, typed: String, loaded: String, version: TextVersion, url: URL,
    choose: @escaping @Sendable ([Conflict.Version]) -> Conflict.Version?
) async throws -> (AttachmentState, [UnshownRow]) {
    let store = app.store
    try await app.database.write { db in
        for conflict in try store.conflicts(db) {
            if let version = choose(conflict.versions) { try store.resolve(db, conflict, keeping: version) }
        }
        for row in try store.trash(db) { try store.restore(db, table: row.table, id: row.id) }
        try store.saveText(db, table: "item", id: id, column: "notes", edited, base: version)
        try store.saveValue(db, table: "item", id: id, column: "title", .text(typed), base: .text(loaded))
    }
    let photo = try store.attach(contentsOf: url)
    let state = store.attachmentState(photo)
    let unshown = try store.unshownRows()
    return (state, unshown)
}

func meeting(_ migrator: DatabaseMigrator, tables: [TrackedTable], item: Item) async throws {
    let (a, b) = try await SyncedApp.pair(tables: tables, migrator: migrator)
    try await a.database.write { db in try item.insert(db) }
    try await a.meet(b)
}
