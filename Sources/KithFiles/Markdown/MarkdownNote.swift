import Foundation
import KithNotes

/// What a Markdown file says of a note.
///
/// The front matter holds the keys of ``Key``; whatever else stands there belongs to the body, which is kept byte for byte: the same note
/// makes the same file, and the file the same note.
struct MarkdownNote: Hashable, Sendable {
    /// The keys of the front matter that are the note's own.
    enum Key: String, CaseIterable, Sendable {
        case id, title, tags, color, pinned, created, updated, deleted, attachments

        /// What it is called where another program has an entry of its name.
        var ownName: String { "kith-\(rawValue)" }
    }

    /// A file that belongs to the note.
    struct Attachment: Hashable, Sendable {
        /// Where it is, from the folder of the Markdown file.
        var path: String
        var name: String

        init(path: String, name: String) {
            self.path = path
            self.name = name
        }
    }

    var id: UUID?
    /// `nil` if the file's name says it.
    var title: String?
    var tags: [String] = []
    var color: NoteColor?
    /// Whether the note stands before all others; `nil` in a folder that is kept in step, whose files do not say it.
    var isPinned: Bool?
    var createdMilliseconds: Int64?
    /// The same, read as if the machine were in UTC; `nil` if the file says its zone.
    var zonelessCreatedMilliseconds: Int64?
    var updatedMilliseconds: Int64?
    /// When the note was deleted; such a file is one of the trash.
    var deletedMilliseconds: Int64?
    var attachments: [Attachment] = []
    var body: String
    /// Whether there is a block of front matter that is no YAML. It is a part of the body then.
    var hasBrokenFrontMatter = false

    init(body: String) {
        self.body = body
    }
}

extension MarkdownNote {
    /// A byte order mark, as UTF-8.
    static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// Bytes of a file that is read.
    static let bytesMax = NoteLimits.mergedBodyBytesMax + FrontMatter.bytesMax

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - readsPins: whether `pinned: true` and `deleted` are of the note itself; otherwise they are a part of the body, as in a folder
    ///     that is kept in step.
    ///   - path: where the file is in such a folder. Without an id, only what lies among its attachments is an attachment then.
    /// - Throws: ``FilesError`` with code `data` for what is no text in UTF-8, or too large.
    init(_ bytes: [UInt8], readsPins: Bool = true, at path: String? = nil) throws(FilesError) {
        try Self.check(bytes)
        self.init(reading: bytes, readsPins: readsPins, at: path)
        // Of a note that is known, what several machines have written adds up.
        if id == nil, body.utf8.count > NoteLimits.bodyBytesMax { throw Self.tooLong(body.utf8.count, NoteLimits.bodyBytesMax) }
    }

    /// What earlier versions took a file for, which kept nothing of lists of other files, times of deletion and empty titles.
    init(former bytes: [UInt8]) throws(FilesError) {
        try Self.check(bytes)
        self.init(reading: bytes, readsPins: true, isFormer: true)
    }

    private init(reading bytes: [UInt8], readsPins: Bool, at path: String? = nil, isFormer: Bool = false) {
        let hasMark = bytes.starts(with: Self.mark)
        let text = bytes[(hasMark ? 3 : 0)...]
        guard let block = FrontMatter(text) else {
            self.init(body: String(decoding: bytes, as: UTF8.self))
            isPinned = readsPins ? false : nil
            return
        }
        self.init(body: "")
        isPinned = readsPins ? false : nil
        let names = Set(block.entries.compactMap(\.key))
        func key(_ entry: FrontMatter.Entry) -> Key? {
            guard let name = entry.key else { return nil }
            let key = Key.allCases.first { $0.ownName == name } ?? Key(rawValue: name).flatMap { names.contains($0.ownName) ? nil : $0 }
            return !readsPins && (key == .pinned || key == .deleted) && !isFormer ? nil : key
        }
        let own = block.entries.filter { key($0) != nil }
        guard let values = FrontMatterValues(String(decoding: own.flatMap(\.bytes), as: UTF8.self)) else {
            self.init(broken: bytes, readsPins)
            return
        }
        var (taken, others): ([UInt8], [FrontMatter.Entry]) = ([], [])
        let origin = Origin(hasID: values.string(.id).flatMap { UUID(uuidString: $0) } != nil, path: path, isFormer: isFormer)
        for entry in block.entries {
            let rest: FrontMatter.Entry? = if let key = key(entry) { take(entry, as: key, from: values, origin) } else { entry }
            if let rest { others.append(rest) }
            if rest?.bytes != entry.bytes { taken += entry.bytes }
        }
        // Without a key, comments alone are worth a block. That is a text from then on, between two rules: what begins so may be one.
        let hasKeys = others.contains { $0.key != nil }
        let left = hasKeys ? others.flatMap(\.bytes) : others.flatMap(\.remarks).flatMap(\.self)
        // Another entry may mean what one of the note's own has named.
        if taken.contains(UInt8(ascii: "&")), !FrontMatterValues.isYAML(String(decoding: left, as: UTF8.self)),
            FrontMatterValues.isYAML(String(decoding: block.entries.flatMap(\.bytes), as: UTF8.self))
        {
            self.init(broken: bytes, readsPins)
            return
        }
        var content = hasMark ? Self.mark : []
        if !left.isEmpty { content += block.opening + left + block.closing }
        body = String(decoding: content + block.rest, as: UTF8.self)
    }

    /// A file with front matter that cannot be read.
    private init(broken bytes: [UInt8], _ readsPins: Bool) {
        self.init(body: String(decoding: bytes, as: UTF8.self))
        isPinned = readsPins ? false : nil
        hasBrokenFrontMatter = true
    }

    private static func tooLong(_ count: Int, _ max: Int) -> FilesError {
        FilesError(.data, "It has \(count) bytes; a note has at most \(max). Split it.")
    }

    static func check(_ bytes: [UInt8]) throws(FilesError) {
        if bytes.count > bytesMax { throw tooLong(bytes.count, NoteLimits.mergedBodyBytesMax) }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw FilesError(.data, "It is text in UTF-16. Convert it to UTF-8 first, for instance with iconv.")
        }
        if bytes.contains(0) { throw FilesError(.data, "It contains a NUL, so it is not text.") }
        if String(validating: bytes, as: UTF8.self) == nil {
            throw FilesError(.data, "It is not text in UTF-8. Convert it first, for instance with iconv.")
        }
    }

    /// What is known of a file whose front matter is read.
    private struct Origin {
        /// Whether it says an id.
        let hasID: Bool
        /// Where it is in a folder that is kept in step.
        let path: String?
        /// Whether it is read as earlier versions did.
        let isFormer: Bool

        /// Whether a link leads to Kith's attachments, and not to a file of another program.
        func isOwn(_ link: String) -> Bool {
            guard let link = Attachment(link: link) else { return false }
            guard !hasID, let path else { return AttachmentLinks.isOne(link.path) }
            let target = RelativePath.resolved(link.path, in: RelativePath.folder(of: path))
            return target.map { RelativePath.isIn(MarkdownExport.attachmentFolder, $0) } ?? false
        }
    }

    /// - Returns: what is left of the entry, as a part of the body: all of it if it is not understood, or another program's.
    private mutating func take(
        _ entry: FrontMatter.Entry, as key: Key, from values: FrontMatterValues, _ origin: Origin
    ) -> FrontMatter.Entry? {
        if !origin.isFormer {
            switch key {
            case .title where values.isNull(.title): return entry
            // Kith writes it together with an id.
            case .deleted where !origin.hasID: return entry
            case .attachments:
                guard let elements = values.elements(key) else { return entry }
                let own = elements.compactMap(\.self).filter(origin.isOwn)
                attachments = own.compactMap(Attachment.init(link:))
                return own.isEmpty
                    ? entry : Self.rest(of: entry, without: own, others: elements.filter { !($0.map(origin.isOwn) ?? false) })
            default: break
            }
        }
        return take(key, from: values, String(decoding: entry.bytes, as: UTF8.self)) ? nil : entry
    }

    /// What is left of a list of attachments without Kith's own: all of it where these cannot be cut out line by line.
    private static func rest(of entry: FrontMatter.Entry, without own: [String], others: [String?]) -> FrontMatter.Entry? {
        guard let rest = entry.cutting(own) else { return others.isEmpty && !entry.hasRemark ? nil : entry }
        if others.isEmpty, !rest.hasRemark { return nil }
        let left = FrontMatterValues(String(decoding: rest.bytes, as: UTF8.self)).map { $0.elements(.attachments) ?? [] }
        return left == others ? rest : entry
    }

    /// A time as text, or as a number if it has no text.
    private static func time(_ text: String) -> Int64? {
        if let number = Int64(text), TimeText.text(number) == nil { return number }
        return TimeText.milliseconds(text)
    }

    /// - Returns: whether the value is understood; else its lines are a part of the body.
    private mutating func take(_ key: Key, from values: FrontMatterValues, _ lines: String) -> Bool {
        switch key {
        case .id:
            guard let text = values.string(key), let id = UUID(uuidString: text) else { return false }
            self.id = id
        case .title:
            guard let text = values.string(key) else { return false }
            title = text
        case .tags:
            guard let tags = values.words(key, in: lines) else { return false }
            self.tags = tags
        case .color:
            guard let text = values.string(key), let color = NoteColor(named: text) ?? Int64(text).map(NoteColor.init) else { return false }
            self.color = color
        case .pinned:
            guard values.string(key) == "true" else { return false }
            isPinned = true
        case .created, .updated, .deleted:
            guard let time = values.string(key).flatMap(Self.time) else { return false }
            switch key {
            case .created:
                createdMilliseconds = time
                zonelessCreatedMilliseconds = values.string(key).flatMap(TimeText.zonelessMilliseconds)
            case .updated: updatedMilliseconds = time
            default: deletedMilliseconds = time
            }
        case .attachments:
            guard let links = values.list(key)?.map(Attachment.init(link:)), !links.contains(nil) else { return false }
            attachments = links.compactMap(\.self)
        }
        return true
    }
}

extension MarkdownNote.Attachment {
    /// A link as Obsidian writes it into a property: `[[attachments/photo (2).jpg|photo.jpg]]`.
    var link: String { "[[\(path)|\(name)]]" }

    init?(link: String) {
        guard link.hasPrefix("[["), link.hasSuffix("]]") else { return nil }
        let inner = link.dropFirst(2).dropLast(2)
        let path = inner.prefix { $0 != "|" }
        guard !path.isEmpty else { return nil }
        let name = inner.dropFirst(path.count + 1)
        self.init(path: String(path), name: name.isEmpty ? String(path.split(separator: "/").last ?? path) : String(name))
    }
}
