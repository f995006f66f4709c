import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import Testing

@Suite("An observation misses what triggers make of a merge")
struct TriggerObservationTests {
    private static let sql = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT);
        CREATE TABLE stats (n INTEGER); INSERT INTO stats VALUES (0);
        CREATE TABLE "second hand" (line TEXT);
        CREATE VIRTUAL TABLE note_fts USING fts5 (title);
        CREATE VIEW shown AS SELECT * FROM stats;
        CREATE TRIGGER count_in AFTER INSERT ON note BEGIN UPDATE OR IGNORE stats SET n = n + 1; INSERT INTO note_fts VALUES (new.title); END;
        CREATE TRIGGER count_out AFTER DELETE ON note BEGIN UPDATE stats SET n = n - 1; DELETE FROM note_fts; END;
        CREATE TRIGGER more AFTER UPDATE ON stats BEGIN REPLACE INTO "second hand" VALUES ('n' || new.n); END;
        """

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [Backend.queue, .pool],
        [
            "SELECT count(*) FROM note_fts WHERE note_fts MATCH 'word'", "SELECT n FROM stats", "SELECT n FROM shown",
            "SELECT count(*) FROM \"second hand\"",
        ])
    func `ValueObservation sees tables that triggers fill, at once and through others`(backend: Backend, query: String) async throws {
        let tables = [TrackedTable("note")]
        let (first, second) = (try TestStore(sql: Self.sql, tables: tables), try TestStore(backend, sql: Self.sql, tables: tables))
        let observation = ValueObservation.tracking { try Int.fetchOne($0, sql: query) ?? 0 }
        var values = observation.values(in: second.database).makeAsyncIterator()
        #expect(try await values.next() == 0)
        try first.execute("INSERT INTO note VALUES (?, 'word')", [key(1)])
        try second.receive(from: first)
        // A pool may tell the first value twice.
        while let value = try await values.next(), value != 1 { #expect(value == 0) }
    }
}
