import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("A process that writes while another one gives the store a new id", .timeLimit(.minutes(5)))
struct RenewalRaceTests {
    @Test(arguments: [false, true]) func `commits under whatever id the store has`(reopens: Bool) async throws {
        let app = try TestStore(.pool)
        let path = app.path
        var configuration = Configuration()
        configuration.busyMode = .timeout(20)
        let rounds = 400
        let renewing = Task.detached { [store = app.store] in
            for _ in 0..<rounds {
                let replica = try store.summary().replica
                _ = try store.renewIdentity(from: replica)
            }
        }
        let writing = Task.detached { [configuration] in
            var pool = try DatabasePool(path: path, configuration: configuration)
            var store = try SyncedDatabase(pool, tables: [TestStore.note])
            for number in 1...UInt64(rounds) {
                try pool.write { try $0.execute(sql: "INSERT INTO note (id, title) VALUES (?, 'a')", arguments: [key(number)]) }
                _ = try store.conflicts()
                if reopens {
                    store.close()
                    try pool.close()
                    pool = try DatabasePool(path: path, configuration: configuration)
                    store = try SyncedDatabase(pool, tables: [TestStore.note])
                }
            }
            store.close()
        }
        try await writing.value
        try await renewing.value
        try app.expectSound()
    }
}
