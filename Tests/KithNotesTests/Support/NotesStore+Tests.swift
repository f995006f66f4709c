import Foundation
import GRDB
import KithNotes
import KithStore
import Synchronization
import TestSupport

extension NotesStore {
    /// Notes in memory, with a clock that advances by a second with each reading, and seeded ids.
    static func inMemory(seed: UInt64 = 1) throws -> NotesStore {
        try NotesStore(try DatabaseQueue(), options: .deterministic(seed: seed))
    }

    /// Takes over all that `other` knows.
    func pull(from other: NotesStore) throws {
        _ = try store.apply(other.store.delta(since: store.vector()))
    }

    /// Writes a column of a note as another program might.
    func overwrite(_ id: UUID, _ column: String, _ value: (any DatabaseValueConvertible)?) throws {
        try store.database.write { db in
            try db.execute(sql: "UPDATE note SET \(column) = ? WHERE hex(id) = ?", arguments: [value, id.uuidString.filter { $0 != "-" }])
        }
    }
}

extension NotesStore {
    /// Changes rows as a failing disk might: nobody notes it.
    func damage(_ sql: String, _ arguments: StatementArguments = []) throws {
        try store.database.writeWithoutTransaction { db in
            let triggers = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger["name"] as String)") }
            try db.execute(sql: sql, arguments: arguments)
            for trigger in triggers { try db.execute(sql: trigger["sql"]) }
        }
    }
}

extension NotesStore.Options {
    static func deterministic(seed: UInt64) -> NotesStore.Options {
        let clock = Mutex(Int64(1_767_225_600_000))
        let generator = Mutex(SplitMix64(seed: seed))
        var options = NotesStore.Options()
        options.nowMilliseconds = {
            clock.withLock { now in
                now += 1_000
                return now
            }
        }
        options.makeID = { milliseconds in
            generator.withLock { UUID.version7(milliseconds: milliseconds, using: &$0) }
        }
        return options
    }
}

/// The code of the error that `body` throws, if it throws one of the notes.
func code(of body: () throws -> Void) -> NotesError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? NotesError)?.code
    }
}
