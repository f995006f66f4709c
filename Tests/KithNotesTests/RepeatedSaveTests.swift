import Foundation
import GRDB
import Testing

@testable import KithNotes

@Suite("A save whose answer was lost is sent again, and written twice")
struct RepeatedSaveTests {
    @Test("it is done once, whoever wrote in between; a save with another name is another one")
    func once() throws {
        let notes = try NotesStore.inMemory()
        let id = try notes.add(title: "List", body: "bread\n").id
        let base = try notes.bodyVersion(of: id)
        let key = UUID()
        #expect(try notes.saveVersioned("bread\nmilk\n", of: id, base: base, key: key).note.body == "bread\nmilk\n")
        try notes.saveBody("tea\nbread\n", of: id, base: base)
        let again = try notes.saveVersioned("bread\nmilk\n", of: id, base: base, key: key)
        #expect(again.note.body == "tea\nbread\nmilk\n")
        #expect(try again.version == notes.bodyVersion(of: id))
        #expect(try notes.saveVersioned("bread\nmilk\n", of: id, base: base, key: UUID()).note.body.ranges(of: "milk").count == 2)
        try notes.delete([id])
        #expect(code { _ = try notes.saveVersioned("bread\nmilk\n", of: id, base: base, key: key) } == .notFound)
    }

    @Test("a save that failed is not taken for done, and the oldest names are forgotten")
    func limits() throws {
        let notes = try NotesStore.inMemory()
        let id = try notes.add(title: "List", body: "bread").id
        let base = try notes.bodyVersion(of: id)
        let key = UUID()
        let long = String(repeating: "x", count: NoteLimits.bodyBytesMax + 1)
        #expect(code { _ = try notes.saveVersioned(long, of: id, base: base, key: key) } == .valueRejected)
        #expect(try notes.saveVersioned("bread, milk", of: id, base: base, key: key).note.body == "bread, milk")
        let (known, count) = try notes.database.write { db in
            for _ in 1..<DoneSaves.rowsMax { try DoneSaves.add(UUID(), db) }
            let known = try DoneSaves.contains(key, db)
            try DoneSaves.add(UUID(), db)
            return ([known, try DoneSaves.contains(key, db)], try Int.fetchOne(db, sql: "SELECT count(*) FROM note_save"))
        }
        #expect(known == [true, false] && count == DoneSaves.rowsMax)
    }
}
