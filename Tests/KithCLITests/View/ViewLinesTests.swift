import Foundation
import Testing

@testable import KithCLI
@testable import KithProgram

@Suite("A line of the full-screen view is wider than the window")
struct ViewLinesTests {
    private static let titles = [
        "Shopping", "", "買い物リスト：パンとコーヒーを二人分、それから牛乳も忘れずに買ってくること", "Cafe\u{301} cre\u{300}me bru\u{302}le\u{301}e",
        "👩‍👩‍👧 family 🇩🇪 👍🏽 party", "A title that is so long that it does not fit into any column at all, whatever the width",
        "escape \u{1B}[31m and \u{202E}reversed", "ไทย ภาษา", "tab\tin a title",
    ]

    private static func state() -> ViewState {
        var state = ViewState()
        let notes = titles.enumerated().map { index, title in
            ViewedNote(
                id: UUID(), title: title, changedMilliseconds: 1_770_000_000_000 - Int64(index) * 90_000_000,
                color: index == 0 ? .green : nil, isInConflict: index % 3 == 1)
        }
        let conflict = ViewedConflict(
            title: titles[2], field: "body", shown: titles[4],
            versions: [.init(text: titles[5] + "\n" + titles[2], origin: "desk"), .init(text: titles[6], origin: "laptop")])
        _ = state.show(notes, conflicts: [conflict])
        state.show(ViewedText(id: notes[0].id, title: titles[2], facts: "#home  added", body: titles.joined(separator: "\n\n") + "\n\ttab"))
        state.status = "Up to date with laptop and attic."
        state.nowMilliseconds = 1_770_000_000_000
        return state
    }

    @Test(
        "there are as many lines as the window has, each exactly as wide, in each mode",
        arguments: [(80, 24), (200, 50), (24, 5), (69, 10), (70, 10), (23, 4), (1, 1), (132, 43)])
    func size(columns: Int, rows: Int) {
        for mode in [ViewState.Mode.list, .search, .reading, .conflicts] {
            for message in [nil, Self.titles[2] + Self.titles[2]] {
                var state = Self.state()
                state.mode = mode
                state.message = message
                let lines = state.lines(on: ViewLayout(columns: columns, rows: rows))
                #expect(lines.count == rows)
                for line in lines {
                    #expect(line.plain.displayWidth == columns, "\(mode): \(line.plain)")
                    #expect(!line.plain.contains("\u{1B}") && !line.plain.contains("\u{202E}"))
                }
            }
        }
    }

    @Test("in a window of any width, the last line says how to leave", arguments: [24, 40, 60, 80])
    func wayOut(columns: Int) {
        for (mode, words) in [(ViewState.Mode.list, "q quit"), (.search, "Esc show all"), (.reading, "Esc back"), (.conflicts, "Esc back")]
        {
            var state = Self.state()
            state.mode = mode
            let last = state.lines(on: ViewLayout(columns: columns, rows: 24)).last?.plain ?? ""
            #expect(last.contains(words) && !last.contains("\u{2026}"), "\(last)")
        }
    }

    @Test(
        "a text takes the columns that terminals give it",
        arguments: [
            ("", 0), ("plain", 5), ("e\u{301}", 1), ("สวัสดี", 4), ("กำ", 2), ("नमस्ते", 4), ("क्षि", 3), ("한국어", 6),
            ("\u{1100}\u{1161}\u{11A8}", 2),
            ("か\u{3099}", 2), ("👩‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("👍🏽", 2), ("日本", 4),
        ])
    func columns(text: String, columns: Int) {
        #expect(text.displayWidth == columns)
    }

    @Test("what follows letters of disputed width is put into its column")
    func disputed() {
        let terminal = Console(descriptor: -1)
        var line = ScreenLine("\u{2708}\u{FE0F} plane", width: 10)
        line.append("end", width: 3)
        #expect(line.text(on: terminal) == "\u{2708}\u{FE0F} plane  \u{1B}[11Gend")
        var plain = ScreenLine("plane", width: 10)
        plain.append("end", width: 3)
        #expect(plain.text(on: terminal) == "plane     end")
    }

    @Test("list and note stand side by side where there is room, the chosen one is marked, and a conflict is")
    func sideBySide() {
        let lines = Self.state().lines(on: ViewLayout(columns: 80, rows: 24)).map(\.plain)
        #expect(lines[0].hasPrefix("kith: 9 notes  ") && lines[0].hasSuffix("Up to date with laptop and attic."))
        #expect(lines[1].hasPrefix("\u{203A} Shopping") && lines[1].contains("\u{2502} 買い物"))
        #expect(lines[2].hasPrefix("  ! (no title)"))
        #expect(lines[23].contains("c conflicts (1)"))
        let narrow = Self.state().lines(on: ViewLayout(columns: 60, rows: 24)).map(\.plain)
        #expect(narrow[1].contains("just now") && !narrow[1].contains("\u{2502}"))
    }

    @Test("an empty list says what to do, and an empty search how to leave it")
    func empty() {
        var state = ViewState()
        let layout = ViewLayout(columns: 80, rows: 24)
        for columns in [24, 80, 200] {
            let shown = state.lines(on: ViewLayout(columns: columns, rows: 24)).map(\.plain)
            #expect(shown.contains { $0.contains("n writes one") } && shown.contains { $0.contains("kith up") }, "\(shown)")
        }
        state.search = "x"
        #expect(state.lines(on: layout).contains { $0.plain.contains("Esc shows all") })
    }

    @Test("the chosen note is on the screen wherever in a long list it is")
    func longList() {
        var state = ViewState()
        let notes = (0..<500).map { ViewedNote(id: UUID(), title: "Note \($0).", changedMilliseconds: 0, color: nil, isInConflict: false) }
        _ = state.show(notes, conflicts: [])
        let layout = ViewLayout(columns: 80, rows: 24)
        for _ in 0..<499 {
            #expect(state.lines(on: layout).contains { $0.plain.hasPrefix("\u{203A} Note \(state.selectedIndex).") })
            _ = state.take(.down, on: layout)
        }
        #expect(state.lines(on: layout)[22].plain.hasPrefix("\u{203A} Note 499."))
    }

    @Test(
        "text is broken between words, and within words that are too long; nothing of it is lost",
        arguments: [
            ("one two three", 7, ["one two", "three"]), ("one two three", 8, ["one two", "three"]), ("abcdefgh", 3, ["abc", "def", "gh"]),
            ("漢字漢字", 5, ["漢字", "漢字"]), ("a 漢字漢字", 4, ["a", "漢字", "漢字"]), ("one\n\ntwo", 9, ["one", "", "two"]),
            ("e\u{301}e\u{301}e\u{301}", 2, ["e\u{301}e\u{301}", "e\u{301}"]), ("", 5, [""]), ("ab   cd", 3, ["ab", "cd"]),
        ])
    func wrapping(text: String, width: Int, lines: [String]) {
        #expect(TextWrapping.lines(of: text, width: width) == lines)
    }
}
