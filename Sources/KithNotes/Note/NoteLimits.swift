/// What can be stored as a note, checked whenever one is written here.
///
/// A note that arrives from another device is shown as it is, whatever that device allowed.
public enum NoteLimits {
    /// Bytes of a title, as UTF-8.
    public static let titleBytesMax = 1_000
    /// Bytes of a body, as UTF-8.
    public static let bodyBytesMax = 4 << 20
    /// The same of a note that comes from an export: what machines write at the same time adds up, and shall come back.
    package static let mergedBodyBytesMax = 16 << 20
    package static let mergedTagsMax = 4 * tagsMax
    /// Tags of one note.
    public static let tagsMax = 64
    /// Bytes of a tag, as UTF-8.
    public static let tagBytesMax = 64

    /// Attachments of one note.
    public static let attachmentsMax = 1_000
    /// Bytes of an attachment's name, as UTF-8: what file systems allow.
    public static let attachmentNameBytesMax = 255

    package static func checkAttachmentName(_ name: String) throws(NotesError) {
        if name.isEmpty || name.utf8.count > attachmentNameBytesMax {
            throw reject(
                "The name of an attachment has 1 to \(attachmentNameBytesMax) bytes; this one has \(name.utf8.count). Give another.")
        }
        if name.unicodeScalars.contains(where: isControl) {
            throw reject("The name of an attachment contains a control character. Give another.")
        }
    }

    static func checkAttachmentCount(_ count: Int) throws(NotesError) {
        if count > attachmentsMax {
            throw reject("A note has at most \(attachmentsMax) attachments. Detach one first, or use another note.")
        }
    }

    /// - Parameters:
    ///   - current: what is stored. A title and tags that stay are not looked at; a body or tags that are too much already may not grow.
    ///   - isMerged: whether the note may come from an export.
    /// - Throws: ``NotesError`` with code `valueRejected`, saying what is wrong.
    static func check(_ note: Note, over current: Note? = nil, isMerged: Bool = false) throws(NotesError) {
        if note.title != current?.title { try checkTitle(note.title) }
        try checkBody(note.body, max: isMerged ? mergedBodyBytesMax : bodyBytesMax, stored: current?.body.utf8.count ?? 0)
        let tagsMax = isMerged ? mergedTagsMax : tagsMax
        if note.tags.count > max(tagsMax, current?.tags.count ?? 0) {
            throw reject("A note has at most \(tagsMax) tags, and this one would have \(note.tags.count). Use fewer.")
        }
        // Another device may have written any number of tags.
        let stored = Set(current?.tags ?? [])
        for tag in note.tags where !stored.contains(tag) { try checkTag(tag) }
        if note.title.isEmpty, note.body.isEmpty {
            throw reject("A note needs a title or a body. Give one of them.")
        }
    }

    package static func checkTitle(_ title: String) throws(NotesError) {
        if title.utf8.count > titleBytesMax {
            throw reject("The title has \(title.utf8.count) bytes; at most \(titleBytesMax) are allowed. Put the rest in the body.")
        }
        if !title.isEmpty, title.allSatisfy(\.isWhitespace) {
            throw reject("The title is nothing but spaces. Give one that can be seen, or none.")
        }
        if title.unicodeScalars.contains(where: isControl) {
            throw reject("The title contains a line break or another control character. A title is one line of text.")
        }
    }

    private static func checkBody(_ body: String, max: Int, stored: Int) throws(NotesError) {
        if body.utf8.count > Swift.max(max, stored) {
            throw reject("The body has \(body.utf8.count) bytes; at most \(max) are allowed. Split the note.")
        }
        // SQLite's C interface would end the text there.
        if body.utf8.contains(0) {
            throw reject("The body contains a NUL character, so it is not text. Only text can be kept in a note.")
        }
    }

    package static func checkTag(_ tag: String) throws(NotesError) {
        if tag.utf8.count > tagBytesMax {
            throw reject("A tag has \(tag.utf8.count) bytes; at most \(tagBytesMax) are allowed. Use a shorter one.")
        }
        if tag.isEmpty || tag.unicodeScalars.contains(where: { isControl($0) || $0.properties.isWhitespace || $0 == "," }) {
            throw reject("\u{201C}\(tag)\u{201D} is not a tag. A tag is one word, without spaces and commas.")
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func reject(_ message: String) -> NotesError {
        NotesError(.valueRejected, message)
    }
}
