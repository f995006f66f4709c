import Foundation
import GRDB
import Synchronization
import Testing

@Suite("A process that keeps the notes locked, such as one that was stopped, keeps others from reading them")
struct LockedNotesTests {
    private let home: KithHome

    init() throws { home = try KithHome() }

    @Test func `what is committed is read meanwhile, with a line that says why, and writing is refused in one line`() throws {
        try home.kith("note", "add", "One", "--body", "hello there")
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let process = try DatabaseQueue(path: home.store.path, configuration: configuration)
        try process.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            try db.execute(sql: "CREATE TABLE other (x)")
        }
        let commands = [
            ["note", "list"], ["note", "show", "One"], ["note", "search", "hello"], ["history"], ["status"],
            ["note", "edit", "One", "--body", "no"],
        ]
        // Each waits for the lock.
        let results = Mutex([KithHome.Result?](repeating: nil, count: commands.count))
        DispatchQueue.concurrentPerform(iterations: commands.count) { index in
            let result = try? home.kith(commands[index])
            results.withLock { $0[index] = result }
        }
        for (command, result) in zip(commands, results.withLock { $0 }) {
            let result = try #require(result, "\(command)")
            if command.contains("edit") {
                #expect(result.status == 75 && result.error.contains("try again"), "\(result)")
                continue
            }
            #expect(result.status == 0, "\(command) \(result)")
            #expect(result.error == "Only reading: Another process keeps the notes locked. What it has not committed is not shown.\n")
            if command != ["status"] { #expect(result.output.contains("One"), "\(command) \(result)") }
            if command.contains("show") { #expect(result.output.contains("hello there")) }
        }
        try process.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try home.kith("note", "show", "One").output.contains("hello there"))
    }

    /// The log is a link to itself, so that nobody can open it anew.
    @Test func `status says of the node that runs what it does also where the notes cannot be read`() throws {
        try home.kith("note", "add", "One")
        let output = try home.shell(
            """
            "$KITH" up --no-discovery --port 0 >/dev/null 2>&1 & node=$!
            until "$KITH" status --json | grep '"isRunning" : true' >/dev/null; do sleep 0.1; done
            mv store/notes.sqlite-wal store/wal && ln -s notes.sqlite-wal store/notes.sqlite-wal
            "$KITH" status; "$KITH" status --json | grep isRunning
            rm store/notes.sqlite-wal && mv store/wal store/notes.sqlite-wal
            kill $node; wait $node
            """
        )
        #expect(output.error.contains("What the notes know of the other machines is unknown"), "\(output)")
        #expect(!output.output.contains("Not running") && output.output.contains("Local only"), "\(output)")
        #expect(!output.output.contains("\"isRunning\" : false"), "\(output)")
        #expect(output.output.contains("\"isRunning\" : true"), "\(output)")
    }
}
