import Foundation
import KithNotes

extension MarkdownNote {
    /// What a file called `stem` says of `whole`.
    ///
    /// - Parameter attachments: where the files are that belong to it.
    init(_ whole: WholeNote, stem: String, attachments: [Attachment]) {
        let note = whole.note
        self.init(body: note.body)
        id = note.id
        title = note.title.utf8.elementsEqual(stem.utf8) ? nil : note.title
        tags = Array(note.tags)
        color = note.color == .none ? nil : note.color
        isPinned = note.isPinned
        createdMilliseconds = note.createdMilliseconds
        updatedMilliseconds = note.updatedMilliseconds
        self.attachments = attachments
    }

    /// The file.
    func bytes() -> [UInt8] {
        let text = Array(body.utf8)
        let hasMark = text.starts(with: Self.mark)
        let rest = text[(hasMark ? 3 : 0)...]
        let mark = hasMark ? Self.mark : []
        if let merged = merged(into: rest, mark), (try? MarkdownNote(merged, readsPins: isPinned != nil)) == self { return merged }
        let lineEnd = Self.lineEnd(of: rest)
        let delimiter = Array("---".utf8) + lineEnd
        return mark + delimiter + header(lineEnd, besides: []) + delimiter + rest
    }

    /// With the note's own keys in the block of front matter that the body begins with; `nil` if it begins with none.
    private func merged(into text: ArraySlice<UInt8>, _ mark: [UInt8]) -> [UInt8]? {
        guard let block = FrontMatter(text) else { return nil }
        let head = mark + block.opening + header(Self.lineEnd(of: block.opening), besides: Set(block.entries.compactMap(\.key)))
        return head + block.entries.flatMap(\.bytes) + block.closing + block.rest
    }

    /// The end of the first line.
    private static func lineEnd(of text: ArraySlice<UInt8>) -> [UInt8] {
        guard let end = text.firstIndex(of: UInt8(ascii: "\n")), end > text.startIndex, text[end - 1] == UInt8(ascii: "\r") else {
            return [UInt8(ascii: "\n")]
        }
        return Array("\r\n".utf8)
    }

    /// The lines of the note's own keys.
    ///
    /// - Parameter others: the keys of the entries that they stand among.
    private func header(_ lineEnd: [UInt8], besides others: Set<String>) -> [UInt8] {
        var lines: [String] = []
        func name(_ key: Key) -> String { others.contains(key.rawValue) ? key.ownName : key.rawValue }
        func add(_ key: Key, _ value: String?) {
            if let value { lines.append("\(name(key)): \(value)") }
        }
        add(.id, id?.uuidString.lowercased())
        add(.title, title.map(FrontMatterValues.quoted))
        if !tags.isEmpty { add(.tags, "[" + tags.map(FrontMatterValues.quoted).joined(separator: ", ") + "]") }
        add(.color, color?.name)
        add(.pinned, isPinned == true ? "true" : nil)
        add(.created, createdMilliseconds.map { TimeText.text($0) ?? String($0) })
        add(.updated, updatedMilliseconds.map { TimeText.text($0) ?? String($0) })
        add(.deleted, deletedMilliseconds.map { TimeText.text($0) ?? String($0) })
        if !attachments.isEmpty {
            lines.append("\(name(.attachments)):")
            lines += attachments.map { "  - " + FrontMatterValues.quoted($0.link) }
        }
        return lines.flatMap { Array($0.utf8) + lineEnd }
    }
}
