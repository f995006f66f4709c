// Offline first, with live queries: the app reads and writes its own tables and never waits for anybody.
//
//   swift run live-queries
//
// Two devices of one person, here in memory. Both work while they are apart; when they meet, each takes over what it lacks, and the
// list on the screen changes by itself. On real devices, `start()` does the meeting; see SmallestSyncedApp.

import Foundation
import GRDB
import Kith

let (phone, laptop) = try await SyncedApp.pair(
    tables: [TrackedTable("chore", sets: ["helpers"], counters: ["minutes"])], migrator: Chore.migrator)

// A live query: GRDB's own observation. It fires for one's own writes and for what arrives.
let chores = ValueObservation.trackingConstantRegion { db in try Chore.order(sql: "title").fetchAll(db) }
let screen = Task {
    for try await list in chores.values(in: laptop.database) {
        let lines = list.map { "  [\($0.isDone ? "x" : " ")] \($0.title), \($0.minutes) min, \($0.helpers)" }
        print((["Laptop shows:"] + (lines.isEmpty ? ["  nothing yet"] : lines)).joined(separator: "\n"))
    }
}
try await Task.sleep(for: .milliseconds(100))

// The phone writes, while no other device is around.
let windows = Chore(id: UUID(), title: "Clean the windows")
try phone.database.write { db in
    try windows.insert(db)
    try Chore(id: UUID(), title: "Water the plants").insert(db)
}
try await phone.meet(laptop)
try await Task.sleep(for: .milliseconds(100))

// Both change the same chore while they are apart.
try phone.database.write { db in
    try db.execute(sql: #"UPDATE chore SET helpers = '["Ada"]', minutes = minutes + 20 WHERE id = ?"#, arguments: [windows.id])
}
try laptop.database.write { db in
    try db.execute(sql: #"UPDATE chore SET helpers = '["Ben"]', minutes = minutes + 5, isDone = 1 WHERE id = ?"#, arguments: [windows.id])
}
// It does not matter which one begins, or how often they meet: nothing is merged twice.
try await laptop.meet(phone)
try await Task.sleep(for: .milliseconds(100))
screen.cancel()

// Nothing was lost, and both have the same.
for (name, app) in [("phone", phone), ("laptop", laptop)] {
    let chore = try app.database.read { try Chore.fetchOne($0, key: windows.id) }
    print("\(name): \(chore?.helpers ?? "") helped for \(chore?.minutes ?? 0) minutes")
}
