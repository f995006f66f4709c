import Foundation
import GRDB
import KithNotes

// MARK: Looking at the folder

/// What was found in a folder, before anything was read.
struct FolderLook {
    /// Files that are not known, or may not be what they were.
    var suspects: [Suspect] = []
    /// What is known of files that are not there.
    var gone: [KnownFile] = []
    /// Notes with the files of which something was begun.
    var begun: Set<UUID> = []
    /// Files among the attachments.
    var attachments: [FolderWalk.File] = []

    struct Suspect {
        let file: FolderWalk.File
        let known: KnownFile?
    }
}

extension FolderPass {
    mutating func look() throws -> FolderLook {
        switch scope {
        case .everything: return try lookAtEverything()
        case .some(let paths, _):
            let tables = tables
            let more = try database.read { db in
                let (gone, left) = (try tables.pathsGone(db), try tables.left(db))
                // One of these may have been moved to a place where it cannot be understood. A file that waits for its note is looked at
                // each time, or the note would get a second one.
                return gone + left.filter { !gone.isEmpty || $0.words == Self.laterWords }.map(\.path)
            }
            return try look(at: paths.union(more.map { FolderPath($0) }))
        }
    }

    /// Whether a file of this path is one of a note.
    static func isNote(_ path: String) -> Bool {
        FileName.parts(RelativePath.name(of: path)).ending?.lowercased() == "md" && !isAttachment(path)
            && !RelativePath.names(of: path).contains { $0.hasPrefix(".") }
    }

    static func isAttachment(_ path: String) -> Bool { RelativePath.isIn(MarkdownExport.attachmentFolder, path) }

    private mutating func lookAtEverything() throws -> FolderLook {
        let walk = try FolderWalk(root, staysOnDisk: true) { $0.hasPrefix(".") }
        for oddity in walk.oddities { try leaveKnown(oddity) }
        let files = walk.files.filter { Self.isNote($0.path) }
        var look = FolderLook()
        look.attachments = walk.files.filter { Self.isAttachment($0.path) }
        report.others = walk.files.count - files.count - look.attachments.count
        var back: [UUID] = []
        var next = 0
        let tables = tables
        try database.read { db in
            try tables.forEachKnown(db) { known in
                let path = FolderPath(known.path)
                while next < files.count, FolderPath(files[next].path) < path {
                    look.suspects.append(FolderLook.Suspect(file: files[next], known: nil))
                    next += 1
                }
                let isThere = next < files.count && FolderPath(files[next].path) == path
                if isThere { next += 1 }
                compare(isThere ? files[next - 1] : nil, known, &look, &back)
            }
        }
        for file in files[next...] { look.suspects.append(FolderLook.Suspect(file: file, known: nil)) }
        try take(back)
        return look
    }

    mutating func look(at paths: some Sequence<FolderPath>) throws -> FolderLook {
        var look = FolderLook()
        var back: [UUID] = []
        let tables = tables
        for path in paths.sorted() {
            looked.insert(path)
            if Self.isAttachment(path.text), case .file(let stamp) = ForeignFile.kind(place(path.text)) {
                look.attachments.append(FolderWalk.File(path: path.text, stamp: stamp))
            }
            if !Self.isNote(path.text) { continue }
            let known = try database.read { db in try tables.known(at: path.text, db) }
            if let oddity = FolderWalk.oddity(above: path.text, in: root) {
                try leaveKnown(oddity)
                if oddity.isOther { for known in known { compare(nil, known, &look, &back) } }
                continue
            }
            // What was odd above it is so no more.
            var folder = RelativePath.folder(of: path.text)
            while !folder.isEmpty {
                looked.insert(FolderPath(String(folder)))
                folder = RelativePath.folder(of: String(folder))
            }
            let kind = ForeignFile.kind(place(path.text))
            switch kind {
            case .file(let stamp):
                let file = FolderWalk.File(path: path.text, stamp: stamp)
                if known.isEmpty { look.suspects.append(FolderLook.Suspect(file: file, known: nil)) }
                for (index, known) in known.enumerated() { compare(index == 0 ? file : nil, known, &look, &back) }
            // A folder of this name is no file.
            case .missing, .folder: for known in known { compare(nil, known, &look, &back) }
            case .link, .other:
                let words = kind == .link ? FolderWalk.linkWords : FolderWalk.otherWords
                try leaveKnown(FolderWalk.Oddity(path: path.text, words: words, isOther: true))
                for known in known { compare(nil, known, &look, &back) }
            case .hidden(let words): try leaveKnown(FolderWalk.Oddity(path: path.text, words: words))
            }
        }
        try take(back)
        return look
    }

    private func compare(_ file: FolderWalk.File?, _ known: KnownFile, _ look: inout FolderLook, _ back: inout [UUID]) {
        if known.isBegun {
            look.begun.insert(known.note)
            return
        }
        guard let file else { return look.gone.append(known) }
        if let stamp = known.stamp, stamp == file.stamp, !options.readsAll {
            if known.goneMilliseconds != nil { back.append(known.note) }
        } else {
            look.suspects.append(FolderLook.Suspect(file: file, known: known))
        }
    }

    /// Files that were missing and are there again, as they were.
    private mutating func take(_ back: [UUID]) throws {
        if back.isEmpty { return }
        let tables = tables
        try database.write { db in for note in back { try tables.setGone(note, nil, db) } }
        touched.formUnion(back)
    }

    /// Names what is no file, or cannot be looked into, and leaves the notes with files there or below: these may not be gone.
    private mutating func leaveKnown(_ oddity: FolderWalk.Oddity) throws {
        leave(oddity.path, oddity.words, nil)
        let tables = tables
        let notes = try database.read { db in try tables.known(atOrBelow: oddity.path, db) }
        left.formUnion(notes.map(\.note))
        report.notesAgain.subtract(notes.map(\.note))
        if oddity.isOther { displaced.formUnion(notes.map(\.note)) }
    }
}

// MARK: Whose files they are

/// A file that says something new.
struct ChangedFile {
    let path: String
    /// What is known of the file that was there last.
    var known: KnownFile?
    let hash: [UInt8]
    let stamp: FileStamp?
    let id: UUID?
    /// `nil` if it is read again when it is needed, to save room.
    var content: FolderContent?
    /// The note that it is of; `nil` for a new one.
    var note: UUID?
}

extension FolderPass {
    /// Texts that are kept from the first look to the second, in bytes.
    private static let keptBytesMax = 16 << 20

    /// Reads the files that may have changed, and says whose they are: then what is left of those that are gone.
    mutating func readHeads(_ first: FolderLook) throws -> ([ChangedFile], [KnownFile]) {
        var look = first
        var changes: [ChangedFile] = []
        var gone: [KnownFile] = []
        var begun: Set<UUID> = []
        var seen: Set<FolderPath> = []
        var keptBytes = 0
        while true {
            seen.formUnion(look.suspects.map { FolderPath($0.file.path) } + look.gone.map { FolderPath($0.path) })
            gone += look.gone
            begun.formUnion(look.begun)
            let start = changes.count
            for suspect in look.suspects { try readHead(suspect, &changes, &keptBytes) }
            // A file that says another's id may be that one, moved; even since its place was looked at.
            let tables = tables
            for index in changes[start...].indices where changes[index].known == nil { changes[index].known = try takeBack(changes[index]) }
            let ids = changes[start...].filter { $0.id != $0.known?.note }.compactMap(\.id)
            let paths = try database.read { db in try ids.compactMap { try tables.path(of: $0, db) } }.map { FolderPath($0) }
            let more = Set(paths).subtracting(seen)
            if more.isEmpty { break }
            look = try self.look(at: more)
            seen.formUnion(more)
        }
        let (claimed, nowhere) = Self.claimed(changes, gone.filter { !left.contains($0.note) || displaced.contains($0.note) })
        // The files of these are elsewhere. Of others it is not known: they are left.
        left.subtract(displaced.intersection(claimed.compactMap(\.note)))
        return (claimed.filter { !isToWait($0, begun) }, nowhere)
    }

    /// Whether it cannot be said yet whose file it is: one with which something was begun may have been moved to it, or one in the place of
    /// which a program is writing another; or it is at the place of another, and that may be the file that a program is writing elsewhere.
    private mutating func isToWait(_ file: ChangedFile, _ begun: Set<UUID>) -> Bool {
        if let id = file.id, begun.contains(id) || written.contains(id), file.note != id {
            report.pathsAgain.insert(FolderPath(file.path))
            if let note = file.note { left.insert(note) }
            return true
        }
        guard isUnknownWritten, let note = file.note, file.id != note, file.known?.note == note else { return false }
        wait(for: file.path, note)
        return true
    }

    private mutating func readHead(_ suspect: FolderLook.Suspect, _ changes: inout [ChangedFile], _ keptBytes: inout Int) throws {
        let (file, known) = (suspect.file, suspect.known)
        do throws(FilesError) {
            guard isQuiet(place(file.path), file.stamp) else { return wait(for: file.path, known?.note) }
            let bytes = try ForeignFile.read(place(file.path), bytesMax: MarkdownNote.bytesMax)
            // Another save may fall between.
            guard ForeignFile.kind(place(file.path)) == .file(file.stamp) else { return wait(for: file.path, known?.note) }
            let hash = Self.hash(bytes)
            // The next write within the same tick of the file system's clock would have the same stamp.
            let stamp = isPast(file.stamp.modifiedMilliseconds, by: options.tickMilliseconds) ? file.stamp : nil
            if let known, known.hash == hash { return same(known, stamp) }
            let content = try content(bytes, at: file.path)
            keptBytes += bytes.count
            changes.append(
                ChangedFile(
                    path: file.path, known: known, hash: hash, stamp: stamp, id: content.id,
                    content: keptBytes <= Self.keptBytesMax ? content : nil))
        } catch  where error.code == .notFound {
            wait(for: file.path, known?.note)
        } catch {
            leave(file.path, error.message, known?.note)
            if known == nil { unreadable.append(file) }
        }
    }

    /// A file that was written, and says what it said.
    private mutating func same(_ known: KnownFile, _ stamp: FileStamp?) {
        readers?.forget(known.note)
        if stamp != nil || known.goneMilliseconds != nil { stamps.append((known.note, stamp)) }
        if known.goneMilliseconds != nil { touched.insert(known.note) }
    }

    /// Finds the note of each file: that of which it says the id, or which was at its place, or which said the same.
    ///
    /// - Returns: the files, and what is known of those that are nowhere.
    private static func claimed(_ changes: [ChangedFile], _ gone: [KnownFile]) -> ([ChangedFile], [KnownFile]) {
        var changes = changes
        let known = Dictionary((changes.compactMap(\.known) + gone).map { ($0.note, $0) }) { first, _ in first }
        var taken: Set<UUID> = []
        func claim(_ index: Int, _ note: UUID?) {
            guard let note, changes[index].note == nil, known[note] != nil, taken.insert(note).inserted else { return }
            changes[index].note = note
        }
        for index in changes.indices where changes[index].known?.note == changes[index].id { claim(index, changes[index].id) }
        for index in changes.indices { claim(index, changes[index].id) }
        var byHash: [[UInt8]: [UUID]] = [:]
        for file in known.values.sorted(by: { $0.path < $1.path }) { byHash[file.hash, default: []].append(file.note) }
        for index in changes.indices where changes[index].known == nil && changes[index].id.flatMap({ known[$0] }) == nil {
            claim(index, byHash[changes[index].hash]?.first { !taken.contains($0) })
        }
        for index in changes.indices { claim(index, changes[index].known?.note) }
        return (changes, known.values.filter { !taken.contains($0.note) }.sorted { FolderPath($0.path) < FolderPath($1.path) })
    }
}
