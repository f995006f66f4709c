import Foundation
import Kith
import KithNotes

/// Brings notes of other programs into the store: in transactions of a thousand, and each once, however often it is done.
package final class NoteImport {
    /// How an import is done.
    package struct Options: Sendable {
        /// Whether to say only what would be done.
        package var isDryRun = false
        /// Tags that every note gets.
        package var tags: [String] = []
        /// Whether the folders that a file is in become a tag: `work/plans`.
        package var tagsFolders = false
        /// Called now and then with the number of notes that were looked at.
        package var progress: @Sendable (Int) -> Void = { _ in }
        /// Reads the wall clock, in milliseconds since 1970: the time of what has none.
        package var nowMilliseconds: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }

        package init() {}
    }

    /// Notes of one transaction.
    static let batchMax = 1_000
    /// Bytes of bodies that wait for their transaction, about.
    static let batchBytesMax = 32 << 20

    let notes: NotesStore
    let options: Options
    var report = ImportReport()
    private var waiting: [ForeignNote] = []
    private var waitingBytes = 0
    private var seen = 0
    /// What the notes say that this import has met under an id of their own, hashed, and where they came from.
    private var met: [UUID: (says: UUID, origin: String)] = [:]

    init(_ notes: NotesStore, _ options: Options) {
        self.notes = notes
        self.options = options
    }

    /// The tags that a note has by its folder or notebook: none if there is none. That it is not kept is counted.
    func tags(ofFolder folder: String?) -> [String] {
        guard let folder, !folder.isEmpty else { return [] }
        if !options.tagsFolders { report.inFolders += 1 }
        return options.tagsFolders ? [folder] : []
    }

    /// Takes a note, to be imported with others.
    func add(_ note: ForeignNote) throws {
        var note = note
        part(&note)
        note.tags += options.tags
        for words in note.fit() { report.remark(note.origin, words, isLeftOut: false) }
        waiting.append(note)
        let texts = [note.body] + [note.said].compactMap(\.self) + note.formerBodies
        waitingBytes += texts.reduce(0) { $0 + $1.utf8.count } + note.attachments.reduce(0) { $0 + $1.bytesHeld }
        if waiting.count >= Self.batchMax || waitingBytes >= Self.batchBytesMax { try flush() }
    }

    /// Two notes of one import may have one id: a file was copied and changed, or made of a template. Each is a note then.
    private func part(_ note: inout ForeignNote) {
        guard let id = note.id else { return }
        let says = UUID.derived(from: [note.title, note.body], milliseconds: nil)
        guard let other = met[id] else { return met[id] = (says, note.origin) }
        if other.says == says { return }
        report.remark(note.origin, "It has the id of \(other.origin), and says something else: it is a note of its own.", isLeftOut: false)
        note.id = nil
        for index in note.attachments.indices { note.attachments[index].id = nil }
        note.derivedID = UUID.derived(
            from: ["kith import of a copy 1", id.uuidString, note.title, note.body], milliseconds: note.createdMilliseconds)
    }

    /// Imports what waits.
    func flush() throws {
        let read = waiting
        (waiting, waitingBytes) = ([], 0)
        if read.isEmpty { return }
        let batch = try asImportedBefore(read)
        let now = options.nowMilliseconds()
        var taken: [(whole: WholeNote, foreign: ForeignNote)] = []
        let bare = batch.map { $0.whole(now) }
        for ((note, foreign), outcome) in zip(zip(bare, batch), try notes.insert(bare, isDryRun: true)) {
            if outcome != .added {
                count(foreign, outcome)
            } else if let note = try attached(foreign, to: note) {
                taken.append((note, foreign))
            }
        }
        let outcomes = try notes.insert(taken.map(\.whole), isDryRun: options.isDryRun)
        for (note, outcome) in zip(taken, outcomes) { count(note.foreign, outcome) }
        seen += batch.count
        options.progress(seen)
    }

    private func count(_ note: ForeignNote, _ outcome: InsertOutcome) {
        switch outcome {
        case .added:
            report.added += 1
            report.attachments += note.attachments.count
            if note.isTrashed { report.addedToTrash += 1 }
        case .present: report.present += 1
        // What has an id of its own is the same note whatever it says; people edit what they imported.
        case .different where note.id == nil: report.present += 1
        case .different: report.remark(note.origin, "This note is here already and says something else; it was left as it is.")
        case .deleted: report.remark(note.origin, "This note is in the trash, and was left there. To have it back: kith trash restore")
        case .rejected(let words): report.remark(note.origin, words)
        }
    }

    /// The note with its attachments, whose bytes are in the store then; `nil` if one of them cannot be had, so that nothing is half
    /// imported.
    private func attached(_ foreign: ForeignNote, to whole: WholeNote) throws -> WholeNote? {
        var whole = whole
        for attachment in foreign.attachments {
            do {
                guard let (content, size) = try content(of: attachment) else { continue }
                if case .elsewhere = attachment.source, notes.store.attachmentState(content).isAway {
                    let words =
                        "The bytes of its attachment \u{201C}\(attachment.name.prefix(80))\u{201D} are not in the file. A machine that has them brings them."
                    report.remark(foreign.origin, words, isLeftOut: false)
                }
                let same = whole.attachments.count { $0.content == content && $0.name.utf8.elementsEqual(attachment.name.utf8) }
                let id = attachment.id ?? NoteAttachment.id(of: content, attachment.name, in: whole.note, number: same + 1)
                whole.attachments.append(WholeNote.Attachment(id: id, name: attachment.name, sizeBytes: size, content: content))
            } catch let error as StoreError where ![.diskFull, .readOnly, .busy].contains(error.code) {
                report.remark(
                    foreign.origin, "Its attachment \u{201C}\(attachment.name.prefix(80))\u{201D} cannot be taken: \(error.message)")
                return nil
            }
        }
        return whole
    }

    /// - Returns: `nil` in a dry run, where the bytes are not read.
    private func content(of attachment: ForeignNote.Attachment) throws -> (AttachmentID, sizeBytes: Int64)? {
        let content: AttachmentID
        switch attachment.source {
        case .elsewhere(let content, let bytes): return (content, bytes)
        case .file(let path):
            guard case .file = ForeignFile.kind(path) else { throw StoreError(.notFound, "There is no such file.") }
            if options.isDryRun { return nil }
            content = try notes.store.attach(contentsOf: URL(filePath: path))
        case .bytes(let bytes):
            if options.isDryRun { return nil }
            content = try notes.store.attach(bytes)
        }
        if let expected = attachment.content, expected != content {
            throw StoreError(.valueRejected, "Its bytes are not what they were.")
        }
        return (content, notes.store.attachmentState(content).sizeBytes ?? 0)
    }
}

extension AttachmentState {
    fileprivate var isAway: Bool { if case .present = self { false } else { true } }
}

extension ForeignNote {
    fileprivate func whole(_ now: Int64) -> WholeNote {
        let created = createdMilliseconds ?? updatedMilliseconds ?? now
        let note = Note(
            id: finalID, title: title, body: body, color: color, tags: NoteTags(tags), createdMilliseconds: created,
            updatedMilliseconds: updatedMilliseconds ?? created, isPinned: isPinned)
        return WholeNote(note, isTrashed: isTrashed)
    }
}
