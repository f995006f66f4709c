// The app after its update, in one of its processes: a window, or a command.
//
//   swift run AdoptedPantryProgram FOLDER
//
// Put a database of the app as it was at FOLDER/data/app.sqlite: the first process adopts it, also if two start at once.
// Then type: cook TITLE, label TITLE=WORD, step TITLE=WORDS, buy TITLE=INGREDIENT.

import Foundation
import GRDB
import Kith

let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? "pantry", directoryHint: .isDirectory)
var options = SyncedApp.Options()
options.port = 0
options.usesDiscovery = false
let app = try await SyncedApp.open(
    Pantry.app, migrator: Pantry.migrator, tables: Pantry.tables, at: .folder(folder), options: options)

func say(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
}

let recipes = ValueObservation.tracking { try Pantry.summary($0) }
let screen = Task {
    for try await summary in recipes.values(in: app.database) { say("sees \(summary)") }
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
    do {
        try app.database.write { try Pantry.obey(line, $0) }
        say("wrote \(line)")
    } catch {
        say("refused \(line): \(error)")
    }
}
screen.cancel()
role.cancel()
try await app.close()
