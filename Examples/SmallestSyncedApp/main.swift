// The smallest app that synchronises: a table of one's own, three lines of Kith.
//
//   swift run smallest-synced-app FOLDER            prints this device's id, and runs
//   swift run smallest-synced-app FOLDER ID         the same, and trusts the device with this id
//
// Start it in two folders, on one machine or two, and give each the other's id. What one writes with any SQL, the other has.

import Foundation
import GRDB
import Kith

// Your own table, made by your own migrations. The id is a UUID; everything else is nullable or has a default.
struct Visit: Codable, FetchableRecord, PersistableRecord {
    var id = UUID()
    var host = ProcessInfo.processInfo.hostName
    var time = Date()
}

var migrator = DatabaseMigrator()
migrator.registerMigration("1") { db in
    try db.execute(sql: "CREATE TABLE visit (id BLOB PRIMARY KEY NOT NULL, host TEXT NOT NULL DEFAULT '', time TEXT NOT NULL DEFAULT '')")
}

func say(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
}

let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? "synced-app", directoryHint: .isDirectory)

// From here on every INSERT, UPDATE and DELETE is noted, by whatever SQL. An app leaves out the folder.
let app = try await SyncedApp.open("org.example.visits", migrator: migrator, tables: [TrackedTable("visit")], at: .folder(folder))
try app.database.write { db in try Visit().insert(db) }
app.start()

// An app pairs devices by six digits that people compare; here the id is given by hand.
say("This device: \(app.trust.ownID)")
if let id = CommandLine.arguments.dropFirst(2).first {
    try app.trust.add(TrustedDevice(id: DeviceID(parsing: id), added: Date()))
}

// Without a network or another device it simply waits.
for await status in app.statuses {
    let visits = try app.database.read { try Visit.fetchCount($0) }
    say("\(visits) visits. \(status.sentence)")
}
