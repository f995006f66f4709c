import Foundation
import GRDB
import Kith
import KithStore
import KithSync
import Testing

@testable import KithNotes

@Suite("The index of words stays behind what the notes say")
struct SearchIndexTests {
    @Test("whatever place and number are asked for, and however much, there is an answer")
    func bounds() throws {
        let stores = try [1, 2].map { try NotesStore.inMemory(seed: $0) }
        let note = try stores[0].add(title: "Begun")
        try stores[1].pull(from: stores[0])
        try stores[0].edit(note.id) { $0.title = "Mine" }
        try stores[1].edit(note.id) { $0.title = "Theirs" }
        try stores[0].pull(from: stores[1])
        // One of the titles is kept beside the one that is shown, and found as well.
        for word in ["mine", "theirs"] {
            for (offset, count) in [(0, -5), (-5, 3), (.max, .max), (.min, .min), (1, 1), (0, 1)] {
                let page = try stores[0].search(SearchText(word), offset: offset, count: count)
                #expect(page.total == 1 && page.entries.count == (offset <= 0 && count > 0 ? 1 : 0), "\(word) \(offset) \(count)")
            }
        }
        for word in ["a", "tag:a", "-a", "-tag:a", "color:red", "\"a b\"", "since:2026-01-01", "-\"a b\""] {
            let text = String(repeating: word + " ", count: 20_000)
            #expect(throws: Never.self, "\(word)") { try stores[0].search(SearchText(text), offset: 0, count: 10) }
            #expect(throws: Never.self, "\(word)") { try stores[0].list(NoteQuery(searching: text)) }
        }
    }

    @Test("a row that was damaged and mended is found by what it says then, though the store knows no more than before")
    func mended() throws {
        let stores = try [1, 2].map { try NotesStore.inMemory(seed: $0) }
        for name in ["Marmalade", "Jam", "Honey"] { try stores[0].add(title: name, body: "for breakfast", tags: ["food"]) }
        try stores[1].pull(from: stores[0])
        try stores[0].damage("UPDATE note SET title = 'Zwieback' WHERE title = 'Jam'")
        try stores[1].damage("UPDATE note SET tags = '[\"bread\"]' WHERE title = 'Honey'")
        for store in stores {
            try store.updateSearchIndex()
            #expect(try indexed(store) == shown(store))
        }
        for (store, other) in [(stores[0], stores[1]), (stores[1], stores[0])] {
            try settle(store)
            try settle(other)
            guard case .rows(let slice) = try other.store.perform(.readRows(DigestRange(), at: other.store.vector())) else {
                Issue.record("no rows")
                return
            }
            let before = try shown(store)
            guard case .mended = try store.store.perform(.mend(DigestRange(), with: slice)) else {
                Issue.record("not mended")
                return
            }
            try store.updateSearchIndex()
            #expect(try indexed(store) == shown(store) && shown(store) != before)
            let found = try store.search(SearchText("breakfast"), offset: 0, count: 10)
            #expect(found.total == 3)
        }
        // When somebody has looked, it goes on from there.
        for store in stores {
            try store.store.forgetMending()
            try store.add(title: "Tea")
            #expect(try store.search(SearchText("tea"), offset: 0, count: 1).total == 1)
        }
    }

    @Test("a copy, an older state of the file, and an index of which half is missing are brought up to date")
    func copies() throws {
        let store = try NotesStore.inMemory()
        for number in 0..<300 { try store.add(title: "Note \(number)") }
        try store.updateSearchIndex()
        for damage in [
            "DELETE FROM note_search_state", "UPDATE note_search_state SET vector = 'x'", "UPDATE note_search_state SET vector = ''",
            "DELETE FROM note_search_state; DELETE FROM note_search WHERE rowid % 2; DELETE FROM note_search_key WHERE key % 3 = 0",
        ] {
            try store.database.write { try $0.execute(sql: damage) }
            try store.updateSearchIndex()
            #expect(try indexed(store) == shown(store), "\(damage)")
        }
    }

    @Test("notes are brought in by as many transactions as it takes, of one note at least")
    func portions() throws {
        let store = try NotesStore.inMemory()
        for number in 0..<7 { try store.add(title: "Note \(number)", body: "word\(number) word\(number + 1)") }
        var rest = try store.database.read { try Data.fetchAll($0, sql: "SELECT id FROM note") }[...]
        for left in [6, 3, 0] {
            var calls = 0
            rest = try store.database.write { db in
                try SearchIndex.bringIn(rest, db) {
                    calls += 1
                    return left == 6 || calls == 3
                }
            }
            #expect(rest.count == left)
            #expect(try indexed(store).count == 7 - left)
        }
        #expect(try store.database.write { try SearchIndex.bringIn([], $0) { false } }.isEmpty)
        #expect(try store.search(SearchText("ord3"), offset: 0, count: 9).total == 2)
    }

    private func settle(_ store: NotesStore) throws {
        while case .read(_, let isBehind) = try store.store.perform(.read), isBehind {}
    }

    private func indexed(_ store: NotesStore) throws -> [String] {
        try store.database.read { try String.fetchAll($0, sql: "SELECT title || tags FROM note_search ORDER BY 1") }
    }

    private func shown(_ store: NotesStore) throws -> [String] {
        try store.database.read { try String.fetchAll($0, sql: "SELECT title || tags FROM note ORDER BY 1") }
    }
}
