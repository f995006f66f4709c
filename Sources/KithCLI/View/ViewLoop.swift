import Foundation
import Kith
import KithNotes
import KithReport

/// Runs the full-screen view: waits for keys and news, lets the state take them, does what it asks for, shows it.
final class ViewLoop {
    /// How long an escape character waits for the rest of a key.
    private static let escapeMilliseconds = 40
    /// How often ages of notes and the node's status are looked at.
    private static let tickMilliseconds = 1_000
    /// Characters of a text that are shown; an editor shows all of it.
    private static let textCharactersMax = 60_000

    private let notes: NotesStore
    private let screen: FullScreen
    private let options: StoreOptions
    private let waking: ViewWaking
    private let news: ViewNews
    private var state = ViewState()
    private var keys = KeyReader()
    private var conflicts: [NoteConflict] = []
    private var isOver = false

    init(_ notes: NotesStore, on screen: FullScreen, _ options: StoreOptions) throws(CommandFailure) {
        self.notes = notes
        self.screen = screen
        self.options = options
        waking = try ViewWaking()
        news = ViewNews(notes, waking)
    }

    /// Returns when the person has had enough.
    func run() throws {
        try screen.enter()
        defer {
            news.stop()
            screen.leave()
        }
        news.follow("")
        look()
        var layout = screen.layout
        while !isOver {
            if screen.layout != layout {
                layout = screen.layout
                screen.forget()
            }
            try screen.show(state.lines(on: layout))
            switch waking.wait(milliseconds: keys.isWaiting ? Self.escapeMilliseconds : Self.tickMilliseconds) {
            case .bytes(let bytes): for key in keys.take(bytes) { press(key, layout) }
            case .other: for key in keys.flush() { press(key, layout) }
            case .end: isOver = true
            }
            if let list = try news.take() { show(list) }
            look()
        }
    }

    private func press(_ key: Key, _ layout: ViewLayout) {
        if layout.isTooSmall, key == .character("q") { isOver = true }
        if let effect = state.take(key, on: layout) { perform(effect) }
    }

    /// What time it is, and what the node does.
    private func look() {
        state.nowMilliseconds = Int64(Date().timeIntervalSince1970 * 1_000)
        let sentence = (try? options.runningNode())??.sentence
        state.status = notes.readOnlyReason.map { "Only reading: \($0)" } ?? sentence ?? "kith up does not run"
    }

    private func show(_ list: ViewNews.List) {
        // Keys that came meanwhile ask for something else.
        guard list.search == state.search else { return }
        conflicts = list.conflicts
        state.hasMore = list.notes.count > ViewNews.notesMax
        let inConflict = Set(conflicts.map(\.noteID))
        let names = options.deviceNames()
        let effect = state.show(
            list.notes.prefix(ViewNews.notesMax).map { ViewedNote($0, isInConflict: inConflict.contains($0.id)) },
            conflicts: conflicts.map { ViewedConflict($0, names) })
        if let effect { perform(effect) } else { state.show(nil) }
    }

    // MARK: Effects

    /// What fails is told in the last line; the view goes on.
    private func perform(_ effect: ViewState.Effect) {
        do {
            try carryOut(effect)
        } catch {
            state.message = CommandFailure(error)?.message ?? "\(error)"
        }
    }

    private func carryOut(_ effect: ViewState.Effect) throws {
        switch effect {
        case .quit: isOver = true
        case .find(let text): news.follow(text)
        case .open(let id): state.show(try text(of: id))
        case .add:
            let note = try withEditor {
                try EditedFile.edit("") { text in
                    let draft = NoteDraft(text: text)
                    return try notes.add(title: draft.title, body: draft.body)
                }
            }
            if !state.search.isEmpty {
                state.search = ""
                news.follow("")
            }
            if let effect = state.select(note.id) { perform(effect) }
        case .edit(let id):
            guard let note = try notes.note(id) else { return state.message = "This note was deleted meanwhile." }
            try withEditor { try EditedFile.edit(note) { _ = try notes.save($0, base: note) } }
            state.show(try text(of: id))
        case .delete(let id):
            let title = try notes.note(id)?.title ?? ""
            try notes.delete([id])
            state.showDeleted(id, title)
        case .restore(let id):
            try notes.restore(id)
            if let effect = state.select(id) { perform(effect) }
        case .keep(let index, let version):
            guard conflicts.indices.contains(index) else { return }
            if let version { try notes.keep(version, of: conflicts[index]) } else { try notes.keepMerged(conflicts[index]) }
            state.message = "Kept, on all machines."
        }
    }

    /// Lends the screen to the person's editor.
    private func withEditor<Value>(_ body: () throws -> Value) throws -> Value {
        screen.leave()
        defer {
            // Whether it can be written is found out at the next line.
            try? screen.enter()
        }
        return try body()
    }

    private func text(of id: UUID) throws -> ViewedText? {
        guard let note = try notes.note(id) else { return nil }
        let times = [("added", note.createdMilliseconds), ("changed", note.updatedMilliseconds)].compactMap { word, milliseconds in
            TimeText(milliseconds: milliseconds).map { "\(word) \($0.local)" }
        }
        let attachments = try notes.attachments(of: id).map(\.label)
        let facts = note.tags.map { "#" + PlainText.line($0) } + times + attachments.map(PlainText.line)
        let isLong = note.body.utf8.count > Self.textCharactersMax
        let body = isLong ? String(note.body.prefix(Self.textCharactersMax)) + "\n\u{2026}\nThere is more: e opens all of it." : note.body
        return ViewedText(
            id: id, title: note.title.isEmpty ? "(no title)" : PlainText.line(note.title), facts: facts.joined(separator: "  "), body: body)
    }
}

extension ViewedNote {
    fileprivate init(_ note: Note, isInConflict: Bool) {
        self.init(
            id: note.id, title: note.title, changedMilliseconds: note.updatedMilliseconds, color: TextStyle(note.color),
            isInConflict: isInConflict)
    }
}

extension ViewedConflict {
    fileprivate init(_ conflict: NoteConflict, _ names: DeviceNames) {
        self.init(
            title: conflict.title, field: conflict.field.rawValue, shown: conflict.lines?.shown,
            versions: conflict.versions.map { version in
                Version(text: version.text, origin: "\(names[version.author] ?? "another device"), \(WrittenTime(version.written).text)")
            })
    }
}
