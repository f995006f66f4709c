import Foundation

/// What the full-screen view shows, as a value: keys and news go in, and what is to be done comes out.
struct ViewState: Equatable {
    /// What the keys are for.
    enum Mode: Equatable {
        /// The list; letters are commands.
        case list
        /// What is typed is looked for.
        case search
        /// The note that is chosen is scrolled.
        case reading
        /// Versions of fields that were written at the same time.
        case conflicts
    }

    /// What somebody else has to do.
    enum Effect: Equatable {
        case find(String)
        case open(UUID)
        case edit(UUID)
        case add
        case delete(UUID)
        case restore(UUID)
        /// The version of a conflict by its place, from 0; `nil` for the merge as it stands.
        case keep(conflict: Int, version: Int?)
        case quit
    }

    var mode = Mode.list
    private(set) var notes: [ViewedNote] = []
    /// Whether there are more notes than these.
    var hasMore = false
    private(set) var selectedID: UUID?
    /// Where the chosen one is in the list, also once it is gone.
    private(set) var selectedIndex = 0
    var search = ""
    private(set) var text: ViewedText?
    /// Lines of the text that are scrolled away.
    private(set) var textTop = 0
    private(set) var conflicts: [ViewedConflict] = []
    private(set) var selectedConflict = 0
    /// The note that was deleted last.
    private var deleted: UUID?
    /// A line for the person, until the next key.
    var message: String?
    /// What the node is doing.
    var status = ""
    var nowMilliseconds: Int64 = 0

    // MARK: News

    /// Takes a list in the place of the one before. The note that is chosen stays chosen; if it is gone, the one in its place is.
    mutating func show(_ notes: [ViewedNote], conflicts: [ViewedConflict]) -> Effect? {
        self.notes = notes
        self.conflicts = conflicts
        selectedConflict = min(selectedConflict, max(0, conflicts.count - 1))
        if mode == .conflicts, conflicts.isEmpty { mode = .list }
        if let index = notes.firstIndex(where: { $0.id == selectedID }) {
            selectedIndex = index
        } else {
            select(selectedIndex)
        }
        return opening
    }

    /// Takes the text of the note that was opened; `nil` if it is gone.
    mutating func show(_ text: ViewedText?) {
        if text?.id != self.text?.id { textTop = 0 }
        self.text = text
    }

    /// Chooses a note as soon as it is in the list.
    mutating func select(_ id: UUID) -> Effect? {
        selectedID = id
        selectedIndex = notes.firstIndex { $0.id == id } ?? 0
        return .open(id)
    }

    /// Says what became of a deletion, and how to take it back.
    mutating func showDeleted(_ id: UUID, _ title: String) {
        deleted = id
        message = "\u{201C}\(title)\u{201D} is in the trash. u brings it back."
    }

    private mutating func select(_ index: Int) {
        selectedIndex = max(0, min(index, notes.count - 1))
        selectedID = notes.isEmpty ? nil : notes[selectedIndex].id
    }

    private var opening: Effect? { selectedID.map(Effect.open) }

    // MARK: Keys

    mutating func take(_ key: Key, on layout: ViewLayout) -> Effect? {
        message = nil
        if key == .control("c") { return .quit }
        return switch mode {
        case .list: takeInList(key, layout)
        case .search: takeInSearch(key, layout)
        case .reading: takeInReading(key, layout)
        case .conflicts: takeInConflicts(key)
        }
    }

    private mutating func takeInList(_ key: Key, _ layout: ViewLayout) -> Effect? {
        switch key {
        case .character("q"): return .quit
        case .character("/"): mode = .search
        case .character("n"): return .add
        case .character("e"): return selectedID.map(Effect.edit)
        case .character("d"): return selectedID.map(Effect.delete)
        case .character("u"):
            defer { deleted = nil }
            if deleted == nil { message = "Nothing was deleted here. `kith trash list` shows what can be brought back." }
            return deleted.map(Effect.restore)
        case .character("c"):
            if conflicts.isEmpty { message = "No conflicts: there is one version of everything." } else { mode = .conflicts }
        case .enter, .right: if selectedID != nil { mode = .reading }
        case .escape: if !search.isEmpty { return find("") }
        default: return move(key, layout)
        }
        return nil
    }

    private mutating func takeInSearch(_ key: Key, _ layout: ViewLayout) -> Effect? {
        switch key {
        case .character(let character): return find(search + String(character))
        case .backspace: return find(String(search.dropLast()))
        case .control("u"): return find("")
        case .enter: mode = .list
        case .escape:
            mode = .list
            return find("")
        default: return move(key, layout)
        }
        return nil
    }

    private mutating func find(_ text: String) -> Effect {
        search = text
        select(0)
        return .find(text)
    }

    private mutating func takeInReading(_ key: Key, _ layout: ViewLayout) -> Effect? {
        switch key {
        case .escape, .left, .enter, .character("q"): mode = .list
        case .character("e"): return selectedID.map(Effect.edit)
        case .up, .character("k"): scroll(to: textTop - 1, layout)
        case .down, .character("j"): scroll(to: textTop + 1, layout)
        case .pageUp: scroll(to: textTop - layout.bodyRows, layout)
        case .pageDown, .character(" "): scroll(to: textTop + layout.bodyRows, layout)
        case .home: scroll(to: 0, layout)
        case .end: scroll(to: .max / 2, layout)
        default: break
        }
        return nil
    }

    /// At most so far that the last lines stand at the end of the screen.
    private mutating func scroll(to top: Int, _ layout: ViewLayout) {
        let lines = text?.lines(width: layout.noteWidth).count ?? 0
        textTop = max(0, min(top, lines - layout.bodyRows))
    }

    private mutating func takeInConflicts(_ key: Key) -> Effect? {
        switch key {
        case .escape, .left, .character("q"), .character("c"): mode = .list
        case .up, .character("k"): selectedConflict = max(0, selectedConflict - 1)
        case .down, .character("j"): selectedConflict = max(0, min(selectedConflict + 1, conflicts.count - 1))
        case .character(let digit):
            guard conflicts.indices.contains(selectedConflict), let number = digit.wholeNumberValue, digit.isASCII else { return nil }
            let conflict = conflicts[selectedConflict]
            if number == 0, conflict.shown != nil { return .keep(conflict: selectedConflict, version: nil) }
            guard conflict.versions.indices.contains(number - 1) else { return nil }
            return .keep(conflict: selectedConflict, version: number - 1)
        default: break
        }
        return nil
    }

    private mutating func move(_ key: Key, _ layout: ViewLayout) -> Effect? {
        let index: Int
        switch key {
        case .up, .character("k"): index = selectedIndex - 1
        case .down, .character("j"): index = selectedIndex + 1
        case .pageUp: index = selectedIndex - layout.bodyRows
        case .pageDown: index = selectedIndex + layout.bodyRows
        case .home: index = 0
        case .end: index = notes.count - 1
        default: return nil
        }
        select(index)
        return opening
    }
}
