import Foundation
import GRDB
import KithStore
import TestSupport
import Testing

@testable import KithNotes

@Suite("A search finds what is not there, or not what is")
struct SearchTests {
    private static func day(_ text: String) -> Int64 {
        (try? Date(text + "T12:00:00Z", strategy: .iso8601)).map { Int64($0.timeIntervalSince1970 * 1_000) } ?? 0
    }

    private static var utc: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }

    private static func library() throws -> NotesStore {
        let store = try NotesStore.inMemory()
        func add(_ title: String, _ body: String, _ tags: NoteTags, _ color: NoteColor, _ date: String) throws {
            let note = Note(
                id: UUID(), title: title, body: body, color: color, tags: tags, createdMilliseconds: 0, updatedMilliseconds: day(date))
            #expect(try store.insert([WholeNote(note)]) == [.added])
        }
        try add("Coffee", "Black, from the mill", ["home"], .red, "2026-01-10")
        try add("Shopping", "Bread, black coffee and milk", ["home", "food"], .yellow, "2026-02-10")
        try add("Decaf", "Coffee without: decaf", ["food"], .red, "2026-03-10")
        try add("Filterkaffee", "tag:home is a word here, too", ["homework"], .none, "2026-04-10")
        return store
    }

    @Test(
        "words begin so, quotation marks hold words together, a minus leaves out, and tags, colors and days are asked for",
        arguments: [
            ("coffee", ["Coffee", "Decaf", "Shopping"]), ("COFF", ["Coffee", "Decaf", "Shopping"]), ("\"coff\"", []),
            ("black coffee", ["Coffee", "Shopping"]), ("\"black coffee\"", ["Shopping"]), ("\u{201C}black coffee\u{201D}", ["Shopping"]),
            ("coffee -decaf", ["Coffee", "Shopping"]), ("-coffee", ["Filterkaffee"]), ("coffee -\"black coffee\"", ["Coffee", "Decaf"]),
            ("tag:home", ["Coffee", "Shopping"]), ("tag:#home tag:food", ["Shopping"]), ("tag:hom", []),
            ("-tag:home", ["Decaf", "Filterkaffee"]),
            ("color:red", ["Coffee", "Decaf"]), ("color:RED coffee tag:home", ["Coffee"]), ("\"tag:home\"", ["Filterkaffee"]),
            ("before:2026-02-10", ["Coffee"]), ("since:2026-02-10 before:2026-03-11", ["Decaf", "Shopping"]),
            ("before:2026-02-30", []), ("since:9223372036854775807-1-1", []), ("since:2026-9223372036854775807-1", []),
            ("before:9999-12-31 since:0001-01-01 decaf", ["Decaf"]), ("before:+2026-02-10", []), ("since:-1-1-1", []),
            ("color:pink", []), ("kaffee", ["Filterkaffee"]), ("AFFÉ", ["Filterkaffee"]),
            ("ffee", ["Coffee", "Decaf", "Filterkaffee", "Shopping"]),
            ("coffee ilk", ["Shopping"]), ("ilter offee", []), ("ffee color:red", ["Coffee", "Decaf"]),
            ("ffee -black", ["Decaf", "Filterkaffee"]),
            ("\"ffee\"", []), ("ag:hom", ["Filterkaffee"]), ("hout:decaf", ["Decaf"]), ("hout:ecaf", []), (":", ["Decaf", "Filterkaffee"]),
            ("!", []), ("ffee :", ["Decaf", "Filterkaffee"]),
            ("\"", ["Coffee", "Decaf", "Filterkaffee", "Shopping"]),
            ("-", ["Coffee", "Decaf", "Filterkaffee", "Shopping"]), ("\" OR *", []), ("title:coffee", []), ("NEAR(black coffee)", []),
            ("coffee^2", []), ("food", ["Decaf", "Shopping"]), ("co* AND", ["Shopping"]),
            ("\0", ["Coffee", "Decaf", "Filterkaffee", "Shopping"]),
        ])
    func syntax(_ text: String, _ titles: [String]) throws {
        let store = try Self.library()
        let search = SearchText(text, calendar: Self.utc)
        let page = try store.search(search, offset: 0, count: 10)
        #expect(page.entries.map(\.note.title).sorted() == titles && page.total == titles.count)
        var query = NoteQuery(searching: "")
        query.text = search
        for order in NoteQuery.Order.allCases {
            query.order = order
            #expect(try store.list(query).map(\.title).sorted() == titles, "\(order)")
        }
    }

    @Test(
        "what the index would take for a question of its own is a word",
        arguments: ["\"\u{301} AND (", "a\u{301}\" OR \"b", "\"\"\"", "{body}:x", "*"])
    func hostile(_ text: String) throws {
        let store = try Self.library()
        #expect(throws: Never.self) { try store.search(SearchText(text), offset: 0, count: 10) }
        #expect(throws: Never.self) { try store.list(NoteQuery(searching: text)) }
    }

    @Test("the notes with a tag are counted and put in order without reading the others")
    func tagPlan() throws {
        let store = try Self.library()
        let (condition, arguments) = NoteQuery(searching: "tag:home").condition(besides: [])
        for sql in [
            "SELECT 1 FROM note \(condition) LIMIT 5000",
            "SELECT id FROM note \(condition) ORDER BY pinned DESC, updated DESC, id DESC LIMIT 60",
        ] {
            let plan = try store.database.read { db in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, arguments: StatementArguments(arguments)).map {
                    $0["detail"] as String
                }
            }
            #expect(
                plan.contains("SCAN note USING COVERING INDEX note_by_order") && !plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
        }
    }

    @Test("a tag is what stands between two quotation marks of the column, whatever else is in the column")
    func tags() throws {
        let store = try NotesStore.inMemory()
        let columns: [(String, Bool)] = [
            (#"["home"]"#, true), (#"["a","home"]"#, true), (#"["homes"]"#, false), (#"["home sweet"]"#, false), ("[]", false),
            ("home", false), (#"["a\"home\"b"]"#, false), (#"["a",["home"]]"#, false), (#"[ "home" ]"#, true), (#"["a", "home"]"#, true),
        ]
        for (column, _) in columns {
            let note = try store.add(title: "With \(column)", body: "same words")
            try store.damage("UPDATE note SET tags = ? WHERE id = ?", [column, Data(note.id.bytes)])
        }
        let expected = columns.filter(\.1).map { "With \($0.0)" }.sorted()
        for text in ["tag:home", "same tag:home", "word tag:home -other", "tag:home since:2026-01-01"] {
            let page = try store.search(SearchText(text), offset: 0, count: 20)
            #expect(page.entries.map(\.note.title).sorted() == expected && page.total == expected.count, "\(text)")
            #expect(try store.list(NoteQuery(searching: text)).map(\.title).sorted() == expected, "\(text)")
        }
        let others = try store.search(SearchText("same -tag:home"), offset: 0, count: 20)
        #expect(others.total == columns.count - expected.count)
        for tag in ["a,b", "\"", "[", "{}", "\\", "é", "日本", "!!", "e\u{301}"] {
            let note = try store.add(title: "Odd", body: tag, tags: NoteTags(tag.contains(",") ? [] : [tag]))
            if tag.contains(",") { try store.damage("UPDATE note SET tags = '[\"a,b\"]' WHERE id = ?", [Data(note.id.bytes)]) }
            var search = SearchText("")
            search.tags = [tag]
            #expect(try store.search(search, offset: 0, count: 20).entries.map(\.id) == [note.id], "\(tag)")
        }
    }

    @Test("parts of words are found in any script and at any length, signs that are no words among the notes that changed last")
    func parts() throws {
        let store = try NotesStore.inMemory()
        let long = String(repeating: "x", count: 150) + "middle" + String(repeating: "y", count: 400)
        let notes = [
            ("Stra\u{DF}e", "stra\u{DF}"), ("Caf\u{E9}s", "AFE"), ("\u{65E5}\u{672C}\u{8A9E}\u{306E}\u{672C}", "\u{8A9E}\u{306E}"),
            ("Party \u{1F389}", "\u{1F389}"), (long, "xmiddley"), ("see https://www.example.org/path", "ample.org"),
            ("It\u{2019}s", "\u{2019}"),
            ("\u{201C}quoted\u{201D}", "uote"), ("\u{4EBA}\u{3005}\u{3068}", "\u{3005}"), ("M\u{F6}belhaus", "obelh"),
            ("E\u{301}te\u{301}", "t\u{E9}"),
            ("\u{FF34}\u{FF25}\u{FF38}\u{FF34}", "ext"),
        ]
        let ids = try notes.map { try store.add(title: $0.0).id }
        for ((title, part), id) in zip(notes, ids) {
            #expect(try store.search(SearchText(part), offset: 0, count: 20).entries.map(\.id).contains(id), "\(part) in \(title)")
            #expect(try store.list(NoteQuery(searching: part)).map(\.id).contains(id), "\(part) in \(title)")
        }
        // They are looked for in the index alone: what it was never told of is not found, as it would be by a look at every note.
        try store.damage("UPDATE note SET body = 'overlooked' WHERE id = ?", [Data(ids[0].bytes)])
        #expect(try store.search(SearchText("verlooke"), offset: 0, count: 10).total == 0)
        #expect(try store.list(NoteQuery(searching: "verlooke")).isEmpty)
        // So many words have it that not all are looked for: the shortest are.
        for number in 1...300 { try store.add(title: "a\(number)bqq") }
        let page = try store.search(SearchText("bqq"), offset: 0, count: 1_000)
        #expect(page.total == IndexWord.wordsMax && page.entries.contains { $0.note.title == "a1bqq" })
        // Words of notes that are gone are in no list.
        try store.delete(ids)
        try store.updateSearchIndex()
        let words = try store.database.read { try String.fetchAll($0, sql: "SELECT folded FROM note_search_word") }
        #expect(words.allSatisfy { $0.hasSuffix("qq") }, "\(words.filter { !$0.hasSuffix("qq") })")
    }

    @Test("a title comes before a text, parts of a long result follow each other, and what was found is marked")
    func rank() throws {
        let store = try Self.library()
        let page = try store.search(SearchText("coffee"), offset: 0, count: 10)
        #expect(page.entries.first?.note.title == "Coffee")
        var query = NoteQuery(searching: "coffee")
        query.order = .relevance
        #expect(try store.list(query).map(\.id) == page.entries.map(\.id))
        let parts = try (0..<4).flatMap { try store.search(SearchText("coffee"), offset: $0, count: 1).entries }
        #expect(parts.map(\.id) == page.entries.map(\.id))
        let marked = page.entries.first { $0.note.title == "Shopping" }?.snippet?.pieces.filter(\.isMarked).map(\.text)
        #expect(marked == ["coffee"])
    }

    @Test(
        "whatever is written, merged, deleted and restored, searches find it in what is shown, and nowhere else",
        arguments: 1...UInt64(Soak.count(2, soaking: 4)))
    func merges(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let stores = try (1...3).map { try NotesStore.inMemory(seed: seed * 10 + $0) }
        let words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
        func phrase() -> String {
            (0..<Int.random(in: 1...4, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ")
        }
        for round in 0..<120 {
            let store = stores[Int.random(in: 0..<3, using: &random)]
            let notes = try store.list()
            let note = notes.randomElement(using: &random)
            switch Int.random(in: 0..<9, using: &random) {
            case 0...1: try store.add(title: phrase(), body: phrase(), tags: NoteTags([words.randomElement(using: &random) ?? ""]))
            case 2: if let note { try store.edit(note.id) { $0.body = phrase() } }
            case 3: if let note { try store.edit(note.id) { $0.title = phrase() } }
            case 4: if let note { try store.edit(note.id) { $0.tags = [words.randomElement(using: &random) ?? ""] } }
            case 5: if let note { try store.delete([note.id]) }
            case 6: if let trashed = try store.trash().first { try store.restore(trashed.id) }
            case 7: if let note { try store.pin([note.id], Bool.random(using: &random)) }
            default: try store.pull(from: stores[Int.random(in: 0..<3, using: &random)])
            }
            if round.isMultiple(of: 10) { try check(store, words) }
        }
        for store in stores { for other in stores { try store.pull(from: other) } }
        for store in stores { try check(store, words) }
    }

    /// Compares what the index finds with what a look at every note finds, and the index with what it is made of.
    private func check(_ store: NotesStore, _ words: [String]) throws {
        for word in words {
            let found = try store.search(SearchText("\"\(word)\""), offset: 0, count: 1_000).entries.map(\.id)
            var query = NoteQuery()
            query.words = [word]
            let kept = try Set(store.notes(keeping: [word]).map { UUID($0) })
            let shown = try store.list().filter { note in
                (note.title + " " + note.body + " " + note.tags.joined(separator: " ")).contains(word)
            }
            #expect(Set(found) == Set(shown.map(\.id)).union(kept), "\(word)")
            #expect(Set(found).count == found.count)
        }
        let listed = try store.database.read { try String.fetchAll($0, sql: "SELECT folded FROM note_search_word ORDER BY folded") }
        let written = try store.list().flatMap { ($0.title + " " + $0.body + " " + $0.tags.joined(separator: " ")).split(separator: " ") }
        #expect(listed == Set(written.map(String.init)).sorted())
        try store.database.write { db in
            try db.execute(sql: "INSERT INTO note_search (note_search) VALUES ('integrity-check')")
            let counts = try Int.fetchAll(
                db,
                sql: "SELECT count(*) FROM note UNION ALL SELECT count(*) FROM note_search UNION ALL SELECT count(*) FROM note_search_key")
            #expect(Set(counts).count == 1, "\(counts)")
        }
    }

    @Test("the index takes the notes that were there before it, and a batch of more than one transaction")
    func upgrade() throws {
        let folder = try TemporaryFolder()
        let file = folder.url("notes.sqlite")
        let database = try DatabaseQueue(path: file.path)
        try NotesSchema.migrator.migrate(database, upTo: "kith-notes-pins")
        try database.write { db in
            for number in 0..<450 {
                try db.execute(
                    sql: "INSERT INTO note (id, title, body) VALUES (randomblob(16), ?, 'same words')", arguments: ["Note \(number)"])
            }
        }
        try database.close()
        let store = try NotesStore.open(file)
        #expect(try store.search(SearchText("same"), offset: 0, count: 5).total == 450)
        // A crowd that is too large for a look at the changes alone.
        let crowd = (0..<2_500).map { number in
            WholeNote(Note(id: UUID(), title: "Crowd \(number)", createdMilliseconds: 0, updatedMilliseconds: 0))
        }
        _ = try store.insert(crowd)
        #expect(try store.search(SearchText("crowd"), offset: 0, count: 5).total == 2_500)
        #expect(try store.search(SearchText("\"note 449\""), offset: 0, count: 5).entries.map(\.note.title) == ["Note 449"])
    }
}
