import Foundation

/// How a person names a note: by its id, by the beginning or end of its id, or by its title.
struct NoteReference {
    let text: String
    /// The text as upper-case digits of an id; `nil` if it cannot be a part of one.
    let idDigits: String?

    init(_ text: String) {
        self.text = text
        let digits = text.uppercased().filter { $0 != "-" }
        let isPart = (NotesStore.idDigitsMin...32).contains(digits.utf8.count) && digits.utf8.allSatisfy(Self.isHexDigit)
        idDigits = isPart ? digits : nil
    }

    /// Whether `note` may be meant.
    func matches(_ note: Note) -> Bool {
        if note.title.utf8.elementsEqual(text.utf8) { return true }
        let id = note.id.uuidString.filter { $0 != "-" }
        return idDigits.map { id.hasPrefix($0) || id.hasSuffix($0) } ?? false
    }

    /// The one note among those that match.
    ///
    /// - Parameter place: where they were looked for.
    /// - Throws: ``NotesError`` with code `notFound`, or `ambiguous` with the notes that could be meant.
    func theOnly(of found: [Note], in place: String? = nil) throws(NotesError) -> Note {
        if let note = found.first, found.count == 1 { return note }
        if found.isEmpty { throw notFound(in: place) }
        let shown = "\u{201C}\(text.prefix(80))\u{201D}"
        let candidates = found.prefix(5).map { "\($0.shortID) (\($0.title.prefix(40)))" }.joined(separator: ", ")
        throw NotesError(.ambiguous, "\(shown) could be any of \(candidates). Name one by its id.")
    }

    var isInTrash: NotesError {
        NotesError(.notFound, "\u{201C}\(text.prefix(80))\u{201D} is in the trash. Restore it from there first.")
    }

    /// - Parameter titles: what may have been meant.
    func notFound(in place: String? = nil, suggesting titles: [String] = []) -> NotesError {
        let shown = "\u{201C}\(text.prefix(80))\u{201D}"
        let suggestions = titles.prefix(3).map { "\u{201C}\($0.prefix(40))\u{201D}" }.joined(separator: " or ")
        let advice = titles.isEmpty ? "Name one by its title or its id." : "Did you mean \(suggestions)?"
        return NotesError(.notFound, "There is no note \(shown)\(place.map { " in " + $0 } ?? ""). \(advice)")
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
    }
}

extension NotesStore {
    /// Fewest hexadecimal digits that are taken for a part of an id.
    public static let idDigitsMin = 4
}
