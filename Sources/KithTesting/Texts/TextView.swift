import KithSync

/// A text as it must be for somebody with a certain knowledge. In which order the characters stand is for ``Simulation/checkTexts()``.
struct TextView {
    /// Those that somebody typed and nobody deleted.
    var characters: Set<Unicode.Scalar> = []
    /// The commits that keep the text from being NULL.
    var marks: [EventID] = []
    var touched: [EventID] = []

    init() {}

    /// What commits made of a column: all that was typed, without all that was deleted by who saw it.
    init(_ effects: [RowEffect], _ column: Int) {
        for effect in effects {
            guard case .text(let text)? = effect.changes[column] else { continue }
            touched.append(effect.event)
            characters.formUnion(text.typed)
            if text.isMarked { marks.append(effect.event) }
        }
        for effect in effects {
            guard case .text(let text)? = effect.changes[column] else { continue }
            characters.subtract(text.erased)
            marks.removeAll(where: text.unmarked.contains)
        }
    }

    /// What is shown, with its characters sorted.
    var shown: ColumnValue { marks.isEmpty && characters.isEmpty ? .null : Self.text(Array(characters)) }

    /// A shown value, with its characters sorted.
    static func normal(_ value: ColumnValue) -> ColumnValue {
        guard case .text(let bytes) = value else { return value }
        return text(Array(String(decoding: bytes, as: UTF8.self).unicodeScalars))
    }

    private static func text(_ characters: [Unicode.Scalar]) -> ColumnValue {
        .text(Array(String(String.UnicodeScalarView(characters.sorted())).utf8))
    }

    /// The text after a plain save of `value`: what differs was typed and deleted.
    func replaced(by value: ColumnValue, _ event: EventID) -> TextView {
        var new = TextView()
        if case .text(let bytes) = value {
            new.characters = Set(String(decoding: bytes, as: UTF8.self).unicodeScalars)
            new.marks = [event]
        }
        new.touched = touched + [event]
        return new
    }

    /// Returns whether anything is different then.
    mutating func apply(_ edit: TextEdit, _ event: EventID) -> Bool {
        let changes = !edit.typed.isEmpty || edit.erased.contains { characters.contains($0) }
        guard changes || (marks.isEmpty && characters.isEmpty && !edit.isEmpty) else { return false }
        characters.subtract(edit.erased)
        characters.formUnion(edit.typed)
        marks = [event]
        touched.append(event)
        return true
    }
}

/// What one commit did to one text.
struct TextEffect {
    let typed: Set<Unicode.Scalar>
    let erased: Set<Unicode.Scalar>
    /// Whether it wrote a text, and not NULL.
    let isMarked: Bool
    /// The commits whose text its author saw and replaced by its own, or by NULL.
    let unmarked: [EventID]

    init(from old: TextView, to new: TextView, _ event: EventID) {
        typed = new.characters.subtracting(old.characters)
        erased = old.characters.subtracting(new.characters)
        isMarked = new.marks.contains(event)
        unmarked = old.marks.filter { !new.marks.contains($0) }
    }
}
