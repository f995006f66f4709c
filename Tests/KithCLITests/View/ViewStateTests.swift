import Foundation
import Testing

@testable import KithCLI

@Suite("A key or a change from elsewhere does something to another note than the one a person sees chosen")
struct ViewStateTests {
    private static let layout = ViewLayout(columns: 80, rows: 24)
    private static let ids = (0..<50).map { _ in UUID() }

    private static func notes(_ indices: some Sequence<Int>) -> [ViewedNote] {
        indices.map { ViewedNote(id: ids[$0], title: "Note \($0)", changedMilliseconds: 0, color: nil, isInConflict: false) }
    }

    private static func state(_ count: Int) -> ViewState {
        var state = ViewState()
        _ = state.show(notes(0..<count), conflicts: [])
        return state
    }

    /// What the keys ask for, in order.
    private static func take(_ keys: [Key], _ state: inout ViewState) -> [ViewState.Effect] {
        keys.compactMap { state.take($0, on: layout) }
    }

    @Test("the note that is chosen stays chosen when others arrive, and its neighbour is when it goes")
    func live() {
        var state = Self.state(5)
        #expect(state.selectedID == Self.ids[0])
        #expect(Self.take([.down, .down], &state) == [.open(Self.ids[1]), .open(Self.ids[2])])
        #expect(state.show(Self.notes([9, 8, 0, 1, 2, 3]), conflicts: []) == .open(Self.ids[2]))
        #expect(state.selectedIndex == 4)
        #expect(state.show(Self.notes([9, 8, 0, 1, 3]), conflicts: []) == .open(Self.ids[3]))
        #expect(state.show([], conflicts: []) == nil && state.selectedID == nil)
        #expect(Self.take([.character("e"), .character("d"), .enter, .down], &state) == [])
        #expect(state.show(Self.notes([4]), conflicts: []) == .open(Self.ids[4]))
    }

    @Test("nothing beyond the first and the last note is chosen")
    func ends() {
        var state = Self.state(50)
        for (key, index) in [(Key.up, 0), (.pageDown, 22), (.end, 49), (.down, 49), (.pageUp, 27), (.home, 0), (.character("j"), 1)] {
            _ = state.take(key, on: Self.layout)
            #expect(state.selectedIndex == index, "\(key)")
        }
    }

    @Test("letters are commands in the list and text in a search")
    func search() {
        var state = Self.state(3)
        #expect(Self.take([.character("/"), .character("d"), .character("e")], &state) == [.find("d"), .find("de")])
        #expect(state.mode == .search)
        #expect(Self.take([.backspace, .enter, .character("d")], &state) == [.find("d"), .delete(Self.ids[0])])
        #expect(Self.take([.escape, .character("/"), .character("q"), .escape], &state) == [.find(""), .find("q"), .find("")])
        #expect(state.mode == .list && state.search.isEmpty)
        #expect(Self.take([.character("q")], &state) == [.quit])
    }

    @Test("what was deleted is told with its way back, once")
    func undo() {
        var state = Self.state(3)
        #expect(Self.take([.character("d")], &state) == [.delete(Self.ids[0])])
        state.showDeleted(Self.ids[0], "Note 0")
        #expect(state.message?.contains("Note 0") == true)
        #expect(Self.take([.character("u"), .character("u")], &state) == [.restore(Self.ids[0])])
        #expect(state.message?.contains("kith trash list") == true)
        _ = state.take(.down, on: Self.layout)
        #expect(state.message == nil)
    }

    @Test("a version is kept of the conflict that is shown as chosen, and only one that there is")
    func conflicts() {
        let versions = [ViewedConflict.Version(text: "a", origin: "desk"), .init(text: "b", origin: "laptop")]
        let title = ViewedConflict(title: "One", field: "title", shown: nil, versions: versions)
        let body = ViewedConflict(title: "Two", field: "body", shown: "ab", versions: versions)
        var state = Self.state(2)
        #expect(Self.take([.character("c")], &state) == [] && state.mode == .list)
        _ = state.show(Self.notes(0..<2), conflicts: [title, body])
        #expect(
            Self.take([.character("c"), .character("0"), .character("3"), .character("2")], &state) == [.keep(conflict: 0, version: 1)])
        #expect(Self.take([.down, .down, .character("0")], &state) == [.keep(conflict: 1, version: nil)])
        #expect(Self.take([.character("\u{0661}")], &state) == [])
        _ = state.show(Self.notes(0..<2), conflicts: [title])
        #expect(state.selectedConflict == 0 && state.mode == .conflicts)
        _ = state.show(Self.notes(0..<2), conflicts: [])
        #expect(state.mode == .list)
    }

    @Test("a text is scrolled to its end and no further, also after the window has grown")
    func scrolling() {
        var state = Self.state(1)
        let body = (1...100).map { "line \($0)" }.joined(separator: "\n")
        state.show(ViewedText(id: Self.ids[0], title: "Long", facts: "added", body: body))
        _ = Self.take([.enter, .end], &state)
        // Title, facts, an empty line, and a hundred others.
        #expect(state.textTop == 103 - 22)
        _ = Self.take([.down], &state)
        #expect(state.textTop == 103 - 22)
        #expect(state.lines(on: Self.layout)[22].plain.hasSuffix("line 100" + String(repeating: " ", count: 37)))
        let large = ViewLayout(columns: 200, rows: 150)
        #expect(state.lines(on: large).count == 150)
        _ = state.take(.up, on: large)
        #expect(state.textTop == 0)
    }
}
