import Foundation
import KithCausality
import KithNotes
import KithReport
import KithStore
import Testing

@testable import KithCLI

@Suite("A change cannot be found again, or is taken back with what others wrote")
struct HistoryCommandTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
    }

    private func title(_ reference: String) throws -> String? {
        (try home.kith("note", "show", reference, "--json").json() as? [String: Any])?["title"] as? String
    }

    @Test func `the last commands are taken back one by one, and done again`() throws {
        let id = try home.kith("note", "add", "Shopping", "--body", "Bread", "--tag", "home").lastLine
        try home.kith("note", "edit", id, "--title", "Groceries", "--add-tag", "urgent")
        try home.kith("note", "rm", id)
        #expect(try home.kith("note", "undo").output == "Took back: Delete \u{201C}Groceries\u{201D}.\n")
        #expect(try title(id) == "Groceries")
        #expect(try home.kith("note", "undo").status == 0)
        let shown = try home.kith("note", "show", id, "--json").json() as? [String: Any]
        #expect(shown?["title"] as? String == "Shopping" && shown?["tags"] as? [String] == ["home"])
        #expect(try home.kith("note", "undo", "--redo").status == 0)
        #expect(try title(id) == "Groceries")
        for _ in 0..<2 { try home.kith("note", "undo") }
        #expect(try home.kith("note", "list").output.isEmpty)
        expectFailure(try home.kith("note", "undo"), 66, "nothing to take back")
        let record = try home.kith("note", "undo", "--redo", "--json").json() as? [String: Any]
        #expect(record?["changed"] as? Int == 1 && (record?["left"] as? [Any])?.isEmpty == true)
    }

    @Test func `history names what was changed and by whom, and a machine's changes are reverted`() throws {
        let id = try home.kith("note", "add", "Shopping", "--body", "Bread").lastLine
        try home.kith("note", "edit", id, "--title", "Groceries", "--color", "red")
        let listed = try home.kith("history").output
        #expect(listed.contains("color, title") && listed.contains("added") && listed.contains("this device"))
        let records = try home.kith("history", "--since", "yesterday", "--json").json() as? [[String: Any]]
        #expect(records?.map { $0["kind"] as? String } == ["update", "insert"])
        #expect(records?.first?["fields"] as? [String] == ["color", "title"])
        #expect(try home.kith("history", "--since", "2999-01-01").output == "Nothing was changed since then.\n")
        expectFailure(try home.kith("history", "--device", "nobody"), 66)
        let explained = try home.kith("note", "explain", id).output
        #expect(explained.contains("\u{201C}Groceries\u{201D}, by this device") && explained.contains("became"))
        #expect(try home.kith("revert", "--device", "this", "--since", "yesterday").status == 0)
        #expect(try home.kith("note", "list").output.isEmpty)
        // Now the reversion is taken back, and then all that it had taken back.
        for _ in 0..<2 {
            #expect(try home.kith("revert", "--device", "this", "--since", "yesterday").output == "There was nothing to take back.\n")
            #expect(try home.kith("note", "list").output.isEmpty)
        }
        // The note has gone to the trash, and its changes name it still.
        #expect(try home.kith("history").output.split(separator: "\n").allSatisfy { $0.contains("Shopping") || $0.contains("Groceries") })
        #expect(try home.shell("\"$KITH\" revert --device this").status == 64)
        #expect(try home.shell("\"$KITH\" history --since tomorrowish").status == 64)
    }

    @Test func `times by a clock that was years ahead once are said to be unknown`() throws {
        var options = NotesStore.Options()
        let future = HybridTimestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000) + 5 * 365 * 86_400_000)
        options.storeOptions.clock = { future }
        let ahead = try NotesStore.open(home.store, options: options)
        let id = try ahead.add(title: "Trip", body: "text").id.uuidString
        try ahead.close()
        try home.kith("note", "edit", id, "--title", "Journey", "--body", "text by a clock that is right")
        let versions = try home.kith("note", "history", id, "--json").json() as? [[String: Any]]
        #expect(versions?.isEmpty == false && versions?.allSatisfy { $0["written"] as? String == nil } == true)
        #expect(try home.kith("note", "history", id).output.split(separator: "\n").allSatisfy { $0.contains("unknown") })
        #expect(try home.kith("note", "explain", id).output.contains("\u{201C}Journey\u{201D}, by this device, at an unknown time"))
        // This machine's own time of the change is known.
        #expect(try home.kith("history").output.contains("unknown") == false)
    }

    @Test func `a clock that was an hour ahead makes no time of another write false`() throws {
        var options = NotesStore.Options()
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        // It was ahead three hours ago, so that its time is over now.
        options.storeOptions.clock = { HybridTimestamp(milliseconds: now - 2 * 3_600_000) }
        let ahead = try NotesStore.open(home.store, options: options)
        let note = try ahead.add(title: "Trip", body: "text")
        try ahead.close()
        options.storeOptions.clock = { HybridTimestamp(milliseconds: now - 3 * 3_600_000) }
        let right = try NotesStore.open(home.store, options: options)
        try right.edit(note.id) { note in
            note.title = "Journey"
            note.body = "text by a clock that is right"
        }
        try right.close()
        let versions = try #require(try home.kith("note", "history", note.id.uuidString, "--json").json() as? [[String: Any]])
        #expect(versions.map { $0["written"] is String } == [false, true])
        #expect(versions.map { $0["writtenAtLatest"] is String } == [true, false])
        #expect(versions.map { $0["written"] == nil } == [true, false])
        let lines = try home.kith("note", "history", note.id.uuidString).output.split(separator: "\n")
        #expect(lines.map { $0.contains("at the latest") } == [true, false])
        #expect(
            try home.kith("note", "explain", note.id.uuidString).output.contains(" at the latest, is shown: nothing was written beside it.")
        )
    }

    @Test func `a time is what the writer's clock showed, or the latest it can have been, or unknown`() {
        let hour: Int64 = 3_600_000
        let now: Int64 = 1_800_000_000_000
        func time(_ ahead: Int64, counter: UInt64 = 0) -> WrittenTime {
            WrittenTime(HybridTimestamp(rawValue: UInt64(now + ahead) << 16 + counter), nowMilliseconds: now)
        }
        #expect(time(-hour).iso8601 == "2027-01-15T07:00:00.000Z" && time(-hour).latestISO8601 == nil)
        #expect(time(-hour, counter: 1).iso8601 == nil && time(-hour, counter: 1).latestISO8601 == "2027-01-15T07:00:00.000Z")
        // A clock that is somewhat ahead shows what it shows; what was counted on from it says nothing yet.
        #expect(time(hour).iso8601 == "2027-01-15T09:00:00.000Z" && time(25 * hour).text == "at an unknown time")
        #expect(time(30_000, counter: 1).latestISO8601 == "2027-01-15T08:00:00.000Z")
        #expect(time(hour, counter: 1).text == "at an unknown time" && time(hour, counter: 1).latestISO8601 == nil)
    }

    @Test func `history names the files that were attached and detached`() throws {
        let id = try home.kith("note", "add", "Shopping", "--body", "Bread").lastLine
        for name in ["list.txt", "map.txt"] { try Data(name.utf8).write(to: URL(fileURLWithPath: home.path(name))) }
        try home.kith("note", "attach", id, home.path("list.txt"), home.path("map.txt"))
        try home.kith("note", "detach", id, "list.txt")
        func said() throws -> [String] {
            try home.kith("history").output.split(separator: "\n").map { line in
                let words = line.split(separator: "  ", omittingEmptySubsequences: true).map { $0.trimmingCharacters(in: .whitespaces) }
                #expect(words.count == 4 && words[1] == "Shopping", "\(line)")
                return words.count > 2 ? words[2] : ""
            }
        }
        let whole = ["detached “list.txt”", "attached “map.txt”", "attached “list.txt”", "added"]
        #expect(try said() == whole)
        try home.kith("note", "rm", id)
        #expect(try said() == ["deleted"] + whole)
        try home.kith("trash", "restore", id)
        #expect(try said() == ["added, attached “map.txt”", "deleted"] + whole)
        let records = try home.kith("history", "--limit", "3", "--json").json() as? [[String: Any]]
        #expect(records?.map { $0["attached"] as? [String] } == [["map.txt"], [], []])
        #expect(records?.map { $0["detached"] as? [String] } == [[], ["map.txt"], ["list.txt"]])
    }

    @Test func `an undo says of which note it has left what`() throws {
        let id = try home.kith("note", "add", "Shopping", "--body", "Bread").lastLine
        try home.kith("folder", "add", home.path("Notes"))
        try home.kith("note", "edit", id, "--title", "Food", "--body", "Bread, milk")
        // A folder's changes are no steps.
        try home.shell("\"$KITH\" folder sync && mv Notes/Food.md Notes/Other.md && sleep 0.3 && \"$KITH\" folder sync")
        let undone = try home.kith("note", "undo").output
        #expect(undone.hasSuffix("\nLeft the title of “Other”: it was changed since by this device.\n"), "\(undone)")
        #expect(try home.kith("note", "show", id, "--body-only").output == "Bread")
    }

    @Test(arguments: [
        ("today", "2026-11-24 00:00"), ("yesterday", "2026-11-23 00:00"), ("90m", "2026-11-24 11:00"), ("3h", "2026-11-24 09:30"),
        ("2d", "2026-11-22 12:30"), ("1w", "2026-11-17 12:30"), ("2026-11-02", "2026-11-02 00:00"),
        ("2026-11-02 18:30", "2026-11-02 18:30"),
        ("", nil), ("0d", nil), ("-1d", nil), ("2026-13-01", nil), ("99999999999999999999d", nil), ("soon", nil),
    ])
    func `moments are what people call them`(text: String, expected: String?) throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let now = try #require(Moment("2026-11-24 12:30", now: Date(), calendar: calendar)).date
        let moment = Moment(text, now: now, calendar: calendar)
        #expect(moment?.date == expected.flatMap { Moment($0, now: now, calendar: calendar)?.date })
        #expect((moment == nil) == (expected == nil))
    }
}
