/// What the terminal shows: as many lines as it has, none wider than it is.
extension ViewState {
    func lines(on layout: ViewLayout) -> [ScreenLine] {
        guard !layout.isTooSmall else {
            let words = ["Too small.", "Enlarge, or press q."]
            return (0..<max(0, layout.rows)).map { ScreenLine($0 < words.count ? words[$0] : "", width: layout.columns) }
        }
        let body: [ScreenLine]
        if mode == .conflicts {
            body = conflictLines(layout)
        } else if layout.showsBoth {
            body = zip(listLines(layout), textLines(layout)).map { list, text in
                var line = list
                line.append(" \u{2502} ", mode == .reading ? .bold : .dim, width: 3)
                line.append(text)
                return line
            }
        } else {
            body = mode == .reading ? textLines(layout) : listLines(layout)
        }
        return [head(layout)] + body + [foot(layout)]
    }

    // MARK: The list

    private static let firstWords = """
        No notes yet.
        n writes one.

        To have them on another machine, too: kith pair on both, then kith up on both.
        """

    private func listLines(_ layout: ViewLayout) -> [ScreenLine] {
        if notes.isEmpty {
            let words = search.isEmpty ? Self.firstWords : "No note has this in it.\nEsc shows all again."
            let lines = TextWrapping.lines(of: words, width: layout.listWidth - 4).map { "  " + $0 }
            return Self.page(["", ""] + lines, layout.bodyRows).map { ScreenLine($0, .dim, width: layout.listWidth) }
        }
        // The chosen one in the middle, as long as there is something on both sides.
        let top = max(0, min(selectedIndex - layout.bodyRows / 2, notes.count - layout.bodyRows))
        return (top..<top + layout.bodyRows).map { index in
            notes.indices.contains(index)
                ? line(of: notes[index], isSelected: index == selectedIndex, layout) : ScreenLine("", width: layout.listWidth)
        }
    }

    private func line(of note: ViewedNote, isSelected: Bool, _ layout: ViewLayout) -> ScreenLine {
        let age = TimeText(milliseconds: note.changedMilliseconds)?.ago(nowMilliseconds: nowMilliseconds) ?? ""
        let ageWidth = layout.listWidth >= 40 ? 12 : 0
        var line = ScreenLine()
        line.append(isSelected ? "\u{203A} " : "  ", isSelected ? .reverse : nil, width: 2)
        line.append(note.isInConflict ? "! " : "", isSelected ? .reverse : .yellow, width: note.isInConflict ? 2 : 0)
        let title = note.title.isEmpty ? "(no title)" : PlainText.line(note.title)
        line.append(title, isSelected ? .reverse : note.color, width: layout.listWidth - line.width - ageWidth)
        let padding = String(repeating: " ", count: max(0, ageWidth - age.displayWidth))
        line.append(padding + age, isSelected ? .reverse : .dim, width: ageWidth)
        return line
    }

    // MARK: The note

    private func textLines(_ layout: ViewLayout) -> [ScreenLine] {
        let all = text?.lines(width: layout.noteWidth) ?? []
        let top = max(0, min(textTop, all.count - 1))
        return (top..<top + layout.bodyRows).map { index in
            all.indices.contains(index)
                ? ScreenLine(all[index].text, all[index].style, width: layout.noteWidth) : ScreenLine("", width: layout.noteWidth)
        }
    }

    // MARK: Conflicts

    private func conflictLines(_ layout: ViewLayout) -> [ScreenLine] {
        var lines: [ScreenLine] = []
        var chosen = 0
        let width = layout.columns
        for (index, conflict) in conflicts.enumerated() {
            let isSelected = index == selectedConflict
            if isSelected { chosen = lines.count }
            let title = conflict.title.isEmpty ? "(no title)" : PlainText.line(conflict.title)
            lines.append(
                ScreenLine((isSelected ? "\u{203A} " : "  ") + "\(title): \(conflict.field)", isSelected ? .reverse : .bold, width: width))
            if let shown = conflict.shown { lines += Self.version("0", "as it stands", shown, width) }
            for (number, version) in conflict.versions.enumerated() {
                lines += Self.version(String(number + 1), version.origin, version.text, width)
            }
            lines.append(ScreenLine("", width: width))
        }
        let top = max(0, min(chosen, lines.count - layout.bodyRows))
        return Self.page(Array(lines.dropFirst(top)), layout.bodyRows, filler: ScreenLine("", width: width))
    }

    /// Longer versions are read with `kith conflicts show`.
    private static let versionLinesMax = 6

    private static func version(_ number: String, _ origin: String, _ text: String, _ width: Int) -> [ScreenLine] {
        let heading = ScreenLine("   \(number)  \(PlainText.line(origin))", .dim, width: width)
        let all = TextWrapping.lines(of: text, width: width - 6)
        let shown = all.prefix(versionLinesMax) + (all.count > versionLinesMax ? ["\u{2026}"] : [])
        return [heading] + shown.map { ScreenLine("      " + $0, width: width) }
    }

    // MARK: First and last line

    private func head(_ layout: ViewLayout) -> ScreenLine {
        let count = "\(notes.count)\(hasMore ? "+" : "") \(notes.count == 1 ? "note" : "notes")"
        let left: String
        switch mode {
        case .conflicts: left = "kith: choose a version"
        case .search: left = "Search: \(search)\u{258F} \(count)"
        case .list, .reading: left = search.isEmpty ? "kith: \(count)" : "Found \u{201C}\(search)\u{201D}: \(count)"
        }
        let shown = PlainText.line(left)
        let leftWidth = min(shown.displayWidth + 2, layout.columns)
        var line = ScreenLine()
        line.append(shown, .bold, width: leftWidth)
        let right = status.truncated(toWidth: max(1, layout.columns - leftWidth))
        line.append(
            String(repeating: " ", count: max(0, layout.columns - leftWidth - right.displayWidth)) + right, .dim,
            width: layout.columns - leftWidth)
        return line
    }

    private func foot(_ layout: ViewLayout) -> ScreenLine {
        if let message { return ScreenLine(PlainText.line(message), .yellow, width: layout.columns) }
        var keys: [String]
        switch mode {
        case .list:
            let open = conflicts.isEmpty ? "c conflicts" : "c conflicts (\(conflicts.count))"
            keys = ["/ search", "e edit", "n new", "d trash", open, "Enter read", "q quit"]
        case .search: keys = ["Enter keep", "Up Down choose", "Esc show all"]
        case .reading: keys = ["Up Down scroll", "e edit", "Esc back"]
        case .conflicts: keys = ["Up Down choose", "1 2 keep this version", "0 keep it as it stands", "Esc back"]
        }
        // The last one, which leads out, is always shown.
        func text() -> String { keys.joined(separator: "   ") }
        while keys.count > 1, text().displayWidth > layout.columns { keys.remove(at: keys.count - 2) }
        return ScreenLine(text(), .dim, width: layout.columns)
    }

    private static func page<Line>(_ lines: [Line], _ rows: Int, filler: Line) -> [Line] {
        Array(lines.prefix(rows)) + Array(repeating: filler, count: max(0, rows - lines.count))
    }

    private static func page(_ lines: [String], _ rows: Int) -> [String] { page(lines, rows, filler: "") }
}
