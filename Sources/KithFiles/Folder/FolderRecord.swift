import Foundation
import KithNotes

/// What a folder's file was when it was last read or written, which its next change is compared with.
struct FolderRecord {
    /// Something that was begun with the file, in case that it is not completed. The file that is not in its place yet, or no more, is
    /// called after the note: see ``FolderPass/temporary(_:)``.
    enum Intent: Int64 {
        /// A new file waits for its name.
        case create = 1
        /// ``FolderRecord/pending`` changes places with the file.
        case exchange = 2
        /// The file is taken away.
        case remove = 3
        /// The file is taken away, because it was saved under a former name.
        case takeBack = 4
    }

    /// From the folder.
    var path: String
    let note: UUID
    /// The SHA-256 of the file's bytes.
    var hash: [UInt8]
    /// While the file has this stamp it is not read; `nil` if it is always read.
    var stamp: FileStamp?
    /// Since when the file is missing.
    var goneMilliseconds: Int64?
    /// What the file says of the note.
    var title: String
    var body: String
    var color: Int64
    var tags: NoteTags
    /// The links to attachments in its front matter.
    var links: [String]
    /// Whether it says the note's id.
    var hasID: Bool
    var intent: Intent?
    /// The bytes that are being written.
    var pending: [UInt8] = []
}

extension FolderRecord {
    /// Of a file that says nothing yet.
    init(path: String, note: UUID) {
        self.init(path: path, note: note, hash: [], title: "", body: "", color: 0, tags: [], links: [], hasID: false)
    }

    /// Among the links: the file is to be written, though it says what the note says.
    private static let isToWrite = "?"

    /// Takes over what a file says.
    mutating func take(_ content: FolderContent, hash: [UInt8], stamp: FileStamp?) {
        (self.hash, self.stamp, goneMilliseconds) = (hash, stamp, nil)
        (title, body, color, tags) = (content.title, content.body, content.color.rawValue, NoteTags(content.tags))
        links = content.attachments.map(\.link) + (content.isAsWritten ? [] : [Self.isToWrite])
        hasID = content.id == note
        (intent, pending) = (nil, [])
    }

    /// Whether the file says this already.
    func says(_ other: FolderContent) -> Bool {
        hasID && title.utf8.elementsEqual(other.title.utf8) && body.utf8.elementsEqual(other.body.utf8) && color == other.color.rawValue
            && tags == NoteTags(other.tags) && links == other.attachments.map(\.link)
    }
}

/// What is known of a file without its text, to tell whether it is what it was.
struct KnownFile {
    let note: UUID
    let path: String
    let hash: [UInt8]
    let stamp: FileStamp?
    let goneMilliseconds: Int64?
    /// Whether something was begun with it.
    let isBegun: Bool
}

extension KnownFile {
    init(_ record: FolderRecord) {
        self.init(
            note: record.note, path: record.path, hash: record.hash, stamp: record.stamp, goneMilliseconds: record.goneMilliseconds,
            isBegun: record.intent != nil)
    }
}

/// A path in the folder, told from others byte by byte: a file system may hold names that differ in the form of their accents alone.
struct FolderPath: Hashable, Comparable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: FolderPath, right: FolderPath) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    static func < (left: FolderPath, right: FolderPath) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

extension FolderRecord {
    /// As if the file at `path` said what the note says.
    init(of note: Note, at path: String) {
        self.init(path: path, note: note.id)
        (title, body, color, tags, hasID) = (note.title, note.body, note.color.rawValue, note.tags, true)
    }
}
