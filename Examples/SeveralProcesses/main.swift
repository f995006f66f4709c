// Several processes of one app on one machine: an app and its extension, a window and a command.
//
//   swift run several-processes FOLDER
//
// Start it in several terminals with the same folder, and type lines. Each process shows what all have typed. One of them synchronises
// with the other devices; end it, or kill it, and another one takes over within a second.

import Foundation
import GRDB
import Kith

var migrator = DatabaseMigrator()
migrator.registerMigration("1") { db in
    try db.execute(sql: "CREATE TABLE line (id BLOB PRIMARY KEY NOT NULL, text TEXT NOT NULL, times INTEGER NOT NULL DEFAULT 0)")
}

let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? "lines", directoryHint: .isDirectory)
// What two processes, or two devices, type alike is one row, and counts up.
let lines = TrackedTable("line", counters: ["times"], key: ["text"])
var options = SyncedApp.Options()
options.port = 0
let app = try await SyncedApp.open("org.example.lines", migrator: migrator, tables: [lines], at: .folder(folder), options: options)

func say(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
}

// What each process has typed reaches the observations of all, and so does what comes from other devices.
struct Sum: Decodable, FetchableRecord {
    let lines: Int
    let times: Int
}

let sums = ValueObservation.tracking { db in
    try Sum.fetchOne(db, sql: "SELECT count(*) AS lines, coalesce(sum(times), 0) AS times FROM line")
}
let screen = Task {
    for try await sum in sums.values(in: app.database) { say("sees \(sum?.lines ?? 0) lines, \(sum?.times ?? 0) times") }
}

// One process at a time gets as far as this.
let events = app.node.events
let role = Task {
    for await event in events where event.kind == .setup && event.phase == .ended { say("synchronises") }
}
app.start()

let (typed, typing) = AsyncStream.makeStream(of: String.self)
Thread.detachNewThread {
    while let line = readLine() { typing.yield(line) }
    typing.finish()
}
for await line in typed {
    try app.database.write { db in
        try db.execute(
            sql: """
                INSERT INTO line (id, text, times) VALUES (kith_key('line', ?1), ?1, 1)
                ON CONFLICT (id) DO UPDATE SET times = times + 1
                """, arguments: [line])
    }
    say("wrote \(line)")
}
screen.cancel()
role.cancel()
try await app.close()
