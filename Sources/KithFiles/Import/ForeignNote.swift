import Foundation
import Kith
import KithNotes

/// A note as another program left it.
struct ForeignNote {
    /// A file that belongs to the note.
    struct Attachment {
        enum Source {
            case file(path: String)
            case bytes([UInt8])
            /// Not here; another machine may have it.
            case elsewhere(AttachmentID, bytes: Int64)
        }

        var name: String
        var source: Source
        var id: UUID?
        /// What the bytes must be.
        var content: AttachmentID?

        /// How many bytes of memory it holds.
        var bytesHeld: Int { if case .bytes(let bytes) = source { bytes.count } else { 0 } }
    }

    /// Where it comes from, for the report, and a part of its natural key.
    var origin: String
    /// Its id, if it comes from Kith.
    var id: UUID?
    /// The id that it gets otherwise, if its format has a better one than follows from where it comes from.
    var derivedID: UUID?
    var title: String
    var body: String
    /// The text as the file says it; `nil` if the import has changed no link in it.
    var said: String?
    /// The title that an earlier version of Kith has given the note; `nil` if it is the same.
    var formerTitle: String?
    /// Where an earlier version said that it comes from; `nil` if it is the same.
    var formerOrigin: String?
    /// The texts that an earlier version may have made of the note, which depended on other notes; none if the text is the same.
    var formerBodies: [String] = []
    var tags: [String] = []
    var color = NoteColor.none
    var isPinned = false
    var createdMilliseconds: Int64?
    /// If the file says a time of creation without a zone: that time as one of UTC.
    var zonelessCreatedMilliseconds: Int64?
    var updatedMilliseconds: Int64?
    /// Whether another program has written its tags. Then they are made to fit, even if the note has an id.
    var hasForeignTags = false
    var isTrashed = false
    var attachments: [Attachment] = []

    init(origin: String, title: String, body: String) {
        self.origin = origin
        self.title = title
        self.body = body
    }
}

extension ForeignNote {
    /// What cannot be kept as it is, made to fit; what was changed is told by the words.
    mutating func fit() -> [String] {
        var changes: [String] = []
        let plain = Self.line(title)
        if !plain.utf8.elementsEqual(title.utf8) {
            changes.append("Its title was made one line of at most \(NoteLimits.titleBytesMax) bytes.")
            title = plain
        }
        formerTitle = formerTitle.map(Self.line)
        var fitting: [String] = []
        for tag in tags {
            guard let word = Self.tag(tag, isOurs: id != nil && !hasForeignTags) else {
                changes.append("The tag \u{201C}\(tag.prefix(80))\u{201D} was left out: a tag is one word of at most 64 bytes.")
                continue
            }
            fitting.append(word)
        }
        let tagsMax = id == nil ? NoteLimits.tagsMax : NoteLimits.mergedTagsMax
        if fitting.count > tagsMax {
            changes.append("Of its \(fitting.count) tags, \(tagsMax) were kept.")
            fitting = Array(fitting.prefix(tagsMax))
        }
        tags = fitting
        for index in attachments.indices {
            let name = Self.attachmentName(attachments[index].name)
            if name.utf8.elementsEqual(attachments[index].name.utf8) { continue }
            changes.append("The name of its attachment \u{201C}\(name.prefix(80))\u{201D} was made to fit.")
            attachments[index].name = name
        }
        return changes
    }

    /// `text` as a title.
    static func line(_ text: String) -> String {
        var line = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar -> Unicode.Scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator: " "
                    default: scalar
                    }
                }))
        if line.allSatisfy(\.isWhitespace) { return "" }
        while line.utf8.count > NoteLimits.titleBytesMax { line.removeLast() }
        return line
    }

    /// `name` as one that an attachment may have.
    private static func attachmentName(_ name: String) -> String {
        if (try? NoteLimits.checkAttachmentName(name)) != nil { return name }
        let plain = line(name)
        if plain.isEmpty { return "attachment" }
        // The ending says what it is.
        let (stem, ending) = FileName.parts(plain)
        let last = ending.map { "." + $0 } ?? ""
        guard last.utf8.count < NoteLimits.attachmentNameBytesMax else { return shortened(plain, to: NoteLimits.attachmentNameBytesMax) }
        return shortened(stem, to: NoteLimits.attachmentNameBytesMax - last.utf8.count) + last
    }

    private static func shortened(_ text: String, to bytes: Int) -> String {
        var text = text
        while text.utf8.count > bytes { text.unicodeScalars.removeLast() }
        return text
    }

    /// A tag of another program as one of ours: `#Travel plans` is `Travel-plans`.
    ///
    /// - Parameter isOurs: whether it stays as it is, if it is a tag at all: another device may have written anything.
    static func tag(_ text: String, isOurs: Bool) -> String? {
        if isOurs, (try? NoteLimits.checkTag(text)) != nil { return text }
        let tag = word(text)
        return tag.isEmpty || tag.utf8.count > NoteLimits.tagBytesMax ? nil : tag
    }

    /// `text` as one word, which may be empty, or too long for a tag.
    static func word(_ text: String) -> String {
        let bare = text.trimmingCharacters(in: .whitespaces).drop { $0 == "#" }
        let words = bare.unicodeScalars.split { scalar in
            scalar.properties.isWhitespace || scalar == "," || [.control, .format].contains(scalar.properties.generalCategory)
        }
        return words.map { String($0) }.joined(separator: "-")
    }
}
