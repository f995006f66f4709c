import Foundation
import GRDB
import KithStore
import KithSync
import Testing

@Suite("A record's property is not what its column holds")
struct TypedColumnTests {
    private enum Course: String { case starter, main }

    private struct Nutrition: Codable, Equatable, Sendable {
        var fat = 1
        var carbs = ["a/b": 2, "c": 3, "d": 4, "e": 5]
    }

    private struct Recipe: Codable, FetchableRecord, PersistableRecord, Equatable {
        var id: UUID
        var steps = ""
        @StoredSet var tags: Set<String> = []
        var cooked = KithStore.Counter()
        var course: OpenEnum<Course> = .known(.main)
        @MillisecondDate var updated: Date
        @StableJSON var nutrition = Nutrition()

        enum Columns {
            static let steps = Column(CodingKeys.steps)
            static let tags = Column(CodingKeys.tags)
            static let cooked = Column(CodingKeys.cooked)
            static let wrong = Column("nothing")
        }

        enum CodingKeys: String, CodingKey { case id, steps, tags, cooked = "times_cooked", course, updated, nutrition }
    }

    private static let sql = """
        CREATE TABLE recipe (id BLOB PRIMARY KEY NOT NULL, steps TEXT NOT NULL DEFAULT '', tags TEXT NOT NULL DEFAULT '[]',
            times_cooked INTEGER NOT NULL DEFAULT 0, course TEXT, updated INTEGER, nutrition TEXT)
        """
    private static let table = TrackedTable(Recipe.self, sets: { [$0.tags] }, counters: { [$0.cooked] }, texts: { [$0.steps] })

    @Test func `a table is declared by its record, with the names that its columns have`() throws {
        let named = TrackedTable("recipe", sets: ["tags"], counters: ["times_cooked"], texts: ["steps"])
        #expect(Self.table == named)
        #expect(TrackedTable(Recipe.self, by: Recipe.CodingKeys.self, sets: [.tags], counters: [.cooked], texts: [.steps]) == named)
        let keyed = TrackedTable(Recipe.self, localColumns: { [$0.tags] }, deletePolicy: .deleteWins, key: { [$0.steps] }, ids: .text)
        #expect(keyed == TrackedTable("recipe", localColumns: ["tags"], deletePolicy: .deleteWins, key: ["steps"], ids: .text))
        let error = #expect(throws: StoreError.self) {
            _ = try TestStore(sql: Self.sql, tables: [TrackedTable(Recipe.self, sets: { [$0.wrong] })])
        }
        #expect(error?.message.contains("it has no column nothing") == true)
    }

    @Test func `what is read is what was saved, saved again it is no change, and sets and counters merge`() throws {
        let (a, b) = (try TestStore(sql: Self.sql, tables: [Self.table]), try TestStore(sql: Self.sql, tables: [Self.table]))
        let id = UUID()
        let recipe = Recipe(id: id, tags: ["b/c", "a"], updated: Date(timeIntervalSince1970: 1_700_000_000.1239))
        try a.database.write { try recipe.insert($0) }
        let count = try a.sequence()
        try a.database.write { db in
            let read = try #require(try Recipe.fetchOne(db, key: id))
            #expect(read == recipe)
            try read.update(db)
        }
        #expect(try a.sequence() == count)
        try b.receive(from: a)
        for (store, tag) in [(a, "x"), (b, "y")] {
            try store.database.write { db in
                var read = try #require(try Recipe.fetchOne(db, key: id))
                read.tags.insert(tag)
                read.cooked += 2
                try read.update(db)
            }
        }
        try a.receive(from: b)
        let merged = try #require(try a.database.read { try Recipe.fetchOne($0, key: id) })
        #expect(merged.tags == ["a", "b/c", "x", "y"])
        #expect(merged.cooked.value == 4)
        try a.expectSound()
    }

    @Test func `a counter saves what was added since it was read, whatever others have added meanwhile`() throws {
        let store = try TestStore(sql: Self.sql, tables: [Self.table])
        let id = UUID()
        try store.database.write { try Recipe(id: id, updated: Date()).insert($0) }
        var read = try #require(try store.database.read { try Recipe.fetchOne($0, key: id) })
        try store.execute("UPDATE recipe SET times_cooked = times_cooked + 10")
        read.cooked += 3
        read.cooked -= 1
        #expect(read.cooked.value == 2 && read.cooked.added == 2)
        try store.database.write { db in
            var other = read
            let isThere = try (
                read.cooked.save(db, as: Recipe.self, of: id, column: Recipe.Columns.cooked),
                other.cooked.save(db, as: Recipe.self, of: UUID(), column: Recipe.Columns.cooked)
            )
            #expect(isThere == (true, false))
        }
        #expect(read.cooked.value == 12 && read.cooked.added == 0)
        var limit = KithStore.Counter(.max)
        limit += 1
        #expect(limit.value == .max)
        limit -= .min
        #expect(limit.value == .max)
    }

    @Test func `an enumeration keeps what it does not know, also through a save`() throws {
        let store = try TestStore(sql: Self.sql, tables: [Self.table])
        let id = UUID()
        try store.database.write { db in
            try Recipe(id: id, course: .known(.starter), updated: Date()).insert(db)
            try db.execute(sql: "UPDATE recipe SET course = 'brunch'")
            var read = try #require(try Recipe.fetchOne(db, key: id))
            #expect(read.course == .unknown("brunch") && read.course.known == nil)
            read.steps = "Boil."
            try read.update(db)
            #expect(try String.fetchOne(db, sql: "SELECT course FROM recipe") == "brunch")
            #expect(try Recipe.filter(Column("course") == OpenEnum<Course>.unknown("brunch")).fetchCount(db) == 1)
        }
        #expect(OpenEnum<Course>(rawValue: "main") == .known(.main) && OpenEnum<Course>.known(.main).known == .main)
    }

    @Test(arguments: [-1e18, -0.0011, 0, 1.0005, 1e18, .infinity, .nan])
    func `a date is cut to what the column holds, and never traps`(seconds: Double) throws {
        let date = MillisecondDate(wrappedValue: Date(timeIntervalSince1970: seconds))
        #expect(MillisecondDate.fromDatabaseValue(date.databaseValue) == date)
        #expect(MillisecondDate(wrappedValue: date.wrappedValue).databaseValue.isNull == false)
        #expect(MillisecondDate.fromDatabaseValue("x".databaseValue) == nil)
    }

    @Test func `a set that is written as it was read keeps elements that are equal in Swift alone`() throws {
        let stored = "[\"e\u{301}\",\"x\",\"\u{E9}\"]".databaseValue
        var set = try #require(StoredSet<String>.fromDatabaseValue(stored))
        #expect(set.wrappedValue == ["\u{E9}", "x"] && set.databaseValue == stored)
        #expect(try JSONDecoder().decode(StoredSet<String>.self, from: JSONEncoder().encode(set)).databaseValue == stored)
        set.wrappedValue.insert("a")
        set.wrappedValue.remove("\u{E9}")
        #expect(set.databaseValue == "[\"a\",\"x\"]".databaseValue)
        #expect(StoredSet<Int>.fromDatabaseValue("[2,1,2]".databaseValue)?.databaseValue == "[1,2]".databaseValue)
        #expect(StoredSet<String>.fromDatabaseValue("[1]".databaseValue) == nil)
    }

    @Test func `JSON that is written as it was read is the same text, and another one when it is set`() throws {
        for text in ["{\"e\u{301}\":1,\"\u{E9}\":2}", "{ \"b\": 1, \"a\": 2, \"a\": 3 }"] {
            var json = try #require(StableJSON<[String: Int]>.fromDatabaseValue(text.databaseValue))
            #expect(json.databaseValue == text.databaseValue && json == StableJSON(wrappedValue: json.wrappedValue))
            json.wrappedValue = ["b": 1, "a": 2]
            #expect(json.databaseValue == "{\"a\":2,\"b\":1}".databaseValue)
        }
    }

    @Test func `a date that was read from a column is the same when it is written again`() throws {
        for milliseconds in [0, 1, -1, 1_700_000_000_123, 999_999_999_999] + (0..<2_000).map({ 1_764_000_000_000 + Int64($0) * 7_919 }) {
            let read = try #require(MillisecondDate.fromDatabaseValue(Int64(milliseconds).databaseValue))
            #expect(MillisecondDate(wrappedValue: read.wrappedValue) == read, "\(milliseconds)")
        }
        #expect(MillisecondDate(wrappedValue: Date(timeIntervalSince1970: 1.0019)).databaseValue == 1_001.databaseValue)
    }

    @Test func `a counter counts down by any number`() {
        var counter = KithStore.Counter(-1)
        counter -= .min
        #expect(counter.value == .max && counter.added == .max)
        counter -= .max
        counter -= 1
        #expect(counter.value == -1)
    }

    @Test func `JSON of equal values is one text, and what is none is none`() throws {
        let value = StableJSON(wrappedValue: Nutrition())
        #expect(value.databaseValue == "{\"carbs\":{\"a/b\":2,\"c\":3,\"d\":4,\"e\":5},\"fat\":1}".databaseValue)
        #expect(StableJSON<Nutrition>.fromDatabaseValue(value.databaseValue) == value)
        #expect(StableJSON<Nutrition>.fromDatabaseValue("[".databaseValue) == nil)
        #expect(StableJSON(wrappedValue: Double.nan).databaseValue.isNull)
    }
}
