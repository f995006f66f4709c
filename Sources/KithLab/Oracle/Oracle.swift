import KithCausality

/// Judges what nodes show in the end by what was written, and by what each author could see; not by how stores merge.
///
/// What an author saw is known from looks at its node right before and right after the write. Where something else arrived in
/// between, only what must hold either way is asked for.
struct Oracle {
    let writes: [WriteRecord]
    /// The id of each note, by its name in the scenario.
    let noteIDs: [String: String]
    let nodeNames: [String]

    /// Every broken promise in what all nodes show.
    func findings(_ state: FinalState) -> [Finding] {
        var findings: [Finding] = []
        let made = Dictionary(grouping: writes.filter(\.mayHaveHappened), by: \.note)
        for note in made.keys.sorted() {
            let writes = made[note, default: []]
            guard let id = noteIDs[note] else { continue }
            let shown = state.notes[id]
            findings += judgeVisibility(of: writes, isVisible: shown != nil)
            guard let shown else { continue }
            findings += judgeRegisters(of: writes, shown)
            findings += judgeLines(of: writes, shown)
            findings += judgeTags(of: writes, shown)
            findings += judgeAttachments(of: writes, shown)
        }
        return findings + judgeUnknownNotes(state)
    }

    // MARK: Rows

    /// A note that the lab has no id of was added by nobody; or by a command that was killed before it said the id, and then
    /// nothing else was written to it.
    private func judgeUnknownNotes(_ state: FinalState) -> [Finding] {
        let known = Set(noteIDs.values)
        var possible = writes.filter { $0.change.kind == .add && $0.outcome == .unknown }.map(\.value)
        var findings: [Finding] = []
        for (id, note) in state.notes.sorted(by: { $0.key < $1.key }) where !known.contains(id) {
            if let index = possible.firstIndex(where: { note == FinalState.Note(title: $0, body: "", color: "none", tags: []) }) {
                possible.remove(at: index)
                continue
            }
            findings.append(
                Finding(rule: .neverWritten, sentence: "A node shows the note \u{201C}\(note.title)\u{201D} (\(id)), which nobody added."))
        }
        return findings
    }

    /// A note is there if something was written to it that no deletion had seen, and not if every deletion saw all of it.
    private func judgeVisibility(of writes: [WriteRecord], isVisible: Bool) -> [Finding] {
        let deletions = writes.filter { $0.change == .delete }
        let contents = writes.filter { $0.change != .delete }
        if isVisible {
            guard let last = deletions.last(where: { deletion in contents.allSatisfy { deletion.mustHaveSeen($0) } }) else { return [] }
            return [
                finding(
                    .cameBack, last,
                    "The note \(last.note) is there again, though \(name(last)) deleted it and had seen all that was written to it.")
            ]
        }
        let lost = contents.filter { write in
            write.outcome == .acknowledged && !write.changedNothing && !deletions.contains { $0.mayHaveSeen(write) }
        }
        return lost.prefix(1).map { write in
            finding(
                .writeLost, write,
                "The note \(write.note) is gone with \u{201C}\(write.value)\u{201D}, and nobody who had seen that deleted it.")
        }
    }

    // MARK: Fields

    private func judgeRegisters(of writes: [WriteRecord], _ note: FinalState.Note) -> [Finding] {
        var findings: [Finding] = []
        for field in [WriteRecord.Field.title, .color] {
            let writes = writes.filter { $0.cell?.field == field }
            let present = note.values(field)
            for write in writes where write.outcome == .acknowledged && !write.changedNothing {
                let others = writes.filter { $0.index != write.index }
                if present.contains(write.value) {
                    // A value that was written twice may rightly be there.
                    guard !others.contains(where: { $0.value == write.value }),
                        let over = others.first(where: { $0.mustHaveReplaced(write) })
                    else { continue }
                    findings.append(
                        finding(
                            .cameBack, write,
                            "The \(field.rawValue) \u{201C}\(write.value)\u{201D} of \(write.note) is there again, though \(name(over)) had overwritten it with \u{201C}\(over.value)\u{201D}."
                        ))
                } else if !others.contains(where: { $0.mayHaveReplaced(write) }) {
                    findings.append(
                        finding(
                            .writeLost, write,
                            "The \(field.rawValue) \u{201C}\(write.value)\u{201D} of \(write.note) is neither shown nor kept, and nobody who had seen it has overwritten it. Shown is \u{201C}\(present[0])\u{201D}."
                        ))
                }
            }
            let known = Set(writes.map(\.value))
            for value in present where !known.contains(value) && !(field == .color && value == "none") {
                findings.append(
                    Finding(
                        rule: .neverWritten, sentence: "A node shows the \(field.rawValue) \u{201C}\(value)\u{201D}, which nobody wrote."))
            }
        }
        return findings
    }

    /// Lines are only ever added, so each is in the text or in one of the texts that are kept.
    private func judgeLines(of writes: [WriteRecord], _ note: FinalState.Note) -> [Finding] {
        // The longest first, so that a line is taken for what it is as a whole, if it is that.
        let lines = writes.filter { $0.change.kind == .line && !$0.value.isEmpty }
            .sorted { ($0.value.count, $1.index) > ($1.value.count, $0.index) }
        var present: Set<String> = []
        var unknown: [String] = []
        for line in Set(note.values(.body).flatMap { $0.split(separator: "\n") }).sorted() {
            guard let pieces = pieces(of: line, lines) else {
                unknown.append(String(line))
                continue
            }
            present.formUnion(pieces.map(\.value))
        }
        let lost = lines.filter { $0.outcome == .acknowledged && !present.contains($0.value) }.sorted { $0.index < $1.index }
        return lost.map { write in
            finding(
                .writeLost, write,
                "The line \u{201C}\(write.value)\u{201D} of \(write.note) is in none of the texts that are kept, and nobody removed it.")
        }
            + unknown.map { line in
                Finding(rule: .neverWritten, sentence: "A node shows the line \u{201C}\(line)\u{201D}, which nobody wrote.")
            }
    }

    /// The writes that make up a line that is shown; `nil` if none do.
    ///
    /// It is one, as a rule. But the first line of a text has no line end before it: if two people begin a text without having seen
    /// each other's, theirs stand one behind the other.
    private func pieces(of line: Substring, _ lines: [WriteRecord], after last: WriteRecord? = nil) -> [WriteRecord]? {
        if line.isEmpty { return [] }
        for write in lines where line.hasPrefix(write.value) {
            if let last, write.index == last.index || write.mustHaveSeen(last) || last.mustHaveSeen(write) { continue }
            if let rest = pieces(of: line.dropFirst(write.value.count), lines, after: write) { return [write] + rest }
        }
        return nil
    }

    private func judgeTags(of writes: [WriteRecord], _ note: FinalState.Note) -> [Finding] {
        var findings: [Finding] = []
        let additions = writes.filter { $0.change.kind == .tag }
        let removals = writes.filter { $0.change.kind == .untag }
        for write in additions where write.outcome == .acknowledged && !write.changedNothing {
            let own = removals.filter { $0.value == write.value }
            if note.tags.contains(write.value) {
                let isAlone = additions.filter { $0.value == write.value }.count == 1
                if isAlone, let over = own.first(where: { $0.outcome == .acknowledged && $0.mustHaveSeen(write) }) {
                    findings.append(
                        finding(
                            .cameBack, write,
                            "The tag \u{201C}\(write.value)\u{201D} of \(write.note) is there again, though \(name(over)) had removed it."))
                }
            } else if !own.contains(where: { $0.mayHaveSeen(write) }) {
                findings.append(
                    finding(
                        .writeLost, write,
                        "The tag \u{201C}\(write.value)\u{201D} of \(write.note) is gone, and nobody who had seen it removed it."))
            }
        }
        let known = Set(additions.map(\.value))
        for tag in note.tags where !known.contains(tag) {
            findings.append(Finding(rule: .neverWritten, sentence: "A node shows the tag \u{201C}\(tag)\u{201D}, which nobody wrote."))
        }
        return findings
    }

    /// Attachments are only ever added; whether their bytes are there is another matter (``SafetyWatch``).
    private func judgeAttachments(of writes: [WriteRecord], _ note: FinalState.Note) -> [Finding] {
        let additions = writes.filter { $0.change.kind == .attach }
        let lost = additions.filter { $0.outcome == .acknowledged && note.attachments[$0.value] == nil }.map { write in
            finding(.writeLost, write, "The attachment \u{201C}\(write.value)\u{201D} of \(write.note) is gone, and nobody removed it.")
        }
        let unknown = Set(note.attachments.keys).subtracting(additions.map(\.value)).sorted()
        return lost
            + unknown.map { name in
                Finding(rule: .neverWritten, sentence: "A node shows the attachment \u{201C}\(name)\u{201D}, which nobody attached.")
            }
    }

    // MARK: Words

    private func finding(_ rule: Finding.Rule, _ write: WriteRecord, _ sentence: String) -> Finding {
        Finding(rule: rule, sentence: sentence, write: write.index)
    }

    private func name(_ write: WriteRecord) -> String { nodeNames[write.node] }
}

extension WriteRecord {
    fileprivate var mayHaveHappened: Bool {
        if case .refused = outcome { return false }
        return true
    }

    /// Whether the author knew `other` for certain.
    fileprivate func mustHaveSeen(_ other: WriteRecord) -> Bool {
        guard outcome == .acknowledged, !changedNothing, let dot = other.dot else { return false }
        return before.covers(dot)
    }

    /// Whether the author may have known `other`.
    fileprivate func mayHaveSeen(_ other: WriteRecord) -> Bool {
        if changedNothing || other.madeNoCommit { return false }
        // A killed command leaves no look after it.
        guard outcome == .acknowledged, let dot = other.dot else { return endedMilliseconds >= other.startedMilliseconds }
        return after.covers(dot)
    }

    /// A plain save replaces the value that was shown, and only that one.
    fileprivate func mustHaveReplaced(_ other: WriteRecord) -> Bool {
        isExact && shownBefore == other.value && mustHaveSeen(other)
    }

    fileprivate func mayHaveReplaced(_ other: WriteRecord) -> Bool {
        isExact ? shownBefore == other.value && mayHaveSeen(other) : mayHaveSeen(other)
    }
}
