// The smallest app that synchronises: a table of one's own, three lines of Kith.
//
//   swift run smallest-synced-app FOLDER            prints this device's id, and runs
//   swift run smallest-synced-app FOLDER ID         the same, and trusts the device with this id
//
// Start it in two folders, on one machine or two, and give each the other's id. What one writes with any SQL, the other has.

import Foundation
import GRDB
import Kith

let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? "synced-app", directoryHint: .isDirectory)
let data = folder.appending(path: "data")
try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)

// Your own database, your own table. The id is a UUID; everything else is nullable or has a default.
let database = try DatabasePool(path: data.appending(path: "app.sqlite").path)
try database.write { db in
    try db.execute(
        sql: """
            CREATE TABLE IF NOT EXISTS visit (
                id   BLOB PRIMARY KEY NOT NULL,
                host TEXT NOT NULL DEFAULT '',
                time TEXT NOT NULL DEFAULT '')
            """)
}

// The table takes part. From here on every INSERT, UPDATE and DELETE is noted, by whatever SQL.
let store = try SyncedDatabase(database, tables: [TrackedTable("visit")])

// Who this device is, and whom it trusts. Not in the database's folder: people copy that one.
let keys = folder.appending(path: "keys")
let key = try DeviceKey.loadOrCreate(in: keys)
let trust = try TrustStore(in: keys, ownID: key.id)
if let id = CommandLine.arguments.dropFirst(2).first {
    try trust.add(TrustedDevice(id: DeviceID(parsing: id), added: Date()))
}
print("This device: \(key.id)")

try database.write { db in
    try db.execute(
        sql: "INSERT INTO visit (id, host, time) VALUES (?, ?, datetime('now'))",
        arguments: [UUID(), ProcessInfo.processInfo.hostName])
}

// Without a network or another device it simply waits.
let node = Node(store: store, key: key, trust: trust, configuration: NodeConfiguration(app: "org.example.visits"))
async let running: Void = node.run()
for await status in node.statuses {
    let visits = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM visit") ?? 0 }
    print("\(visits) visits. \(status.sentence)")
}
try await running
