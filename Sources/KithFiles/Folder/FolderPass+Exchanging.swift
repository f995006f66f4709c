import CFileFormats
import Foundation
import GRDB
import Kith
import KithNotes

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What a file is to say, under its temporary name.
struct Prepared {
    var record: FolderRecord
    let content: FolderContent
    let stamp: FileStamp?
}

// MARK: Files that change places

extension FolderPass {
    mutating func exchange(_ changed: [Prepared]) throws {
        var settled: [FolderRecord] = []
        for prepared in changed {
            do {
                guard try exchange(prepared.record), let record = try settle(prepared.record, prepared.content, prepared.stamp) else {
                    continue
                }
                settled.append(record)
            } catch let error as FilesError where error.code != .inputOutput {
                leave(prepared.record.path, error.message, prepared.record.note)
            }
        }
        synchronizeFolders(of: settled.map(\.path))
        let tables = tables
        try database.write { [settled] db in for record in settled { try tables.save(record, db) } }
        try options.step("settled")
        replaced += settled.map(\.note)
        replacedBytes += settled.reduce(0) { $0 + $1.body.utf8.count }
        report.written += settled.count
    }

    /// Puts what was prepared in the place of the file, unless an editor has saved since it was read.
    /// - Returns: whether it was done.
    private mutating func exchange(_ record: FolderRecord) throws -> Bool {
        let (path, aside) = (place(record.path), place(temporary(record.note)))
        guard case .file(let current) = ForeignFile.kind(path), isPast(current.modifiedMilliseconds, by: options.quietMilliseconds) else {
            return try putOff(record)
        }
        readers?.willRead(record.note)
        // What a program that has it open writes next would go into a file that has no name any more, however long it has written nothing.
        let isFree = !ForeignFile.isBeingWritten(path)
        let bytes = isFree ? try? ForeignFile.read(path, bytesMax: MarkdownNote.bytesMax) : nil
        let isSame = bytes.map { Self.hash($0) == record.hash } ?? (record.stamp == current)
        if isSame { readers?.watchAgain(record.note, at: path) }
        guard isFree, isSame else {
            var record = record
            // It says something else, perhaps with the time and the size that it had.
            if bytes != nil { record.stamp = nil }
            guard !isFree, isPast(current.modifiedMilliseconds, by: options.openMilliseconds) else { return try putOff(record) }
            try giveUp(record)
            leaveOpen(record)
            return false
        }
        try options.step("exchange")
        options.beforeExchange(path)
        readers?.willReplace(record, by: aside)
        guard kith_exchange(aside, path) == 0 else {
            let error = cannotBeWritten()
            readers?.forget(record.note)
            try giveUp(record)
            throw error
        }
        try options.step("exchanged")
        return true
    }

    /// The next pass reads the file.
    /// - Returns: that it was not exchanged.
    private mutating func putOff(_ record: FolderRecord) throws -> Bool {
        again(record)
        try giveUp(record)
        return false
    }

    /// Whether a program has had a note's file open to write for long. Who asks opens the file, too, which is not the reading that
    /// ``readers`` looks for.
    func isHeldOpen(_ record: FolderRecord) -> Bool {
        let path = place(record.path)
        guard case .file(let stamp) = ForeignFile.kind(path), isPast(stamp.modifiedMilliseconds, by: options.openMilliseconds) else {
            return false
        }
        readers?.willRead(record.note)
        defer { readers?.watchAgain(record.note, at: path) }
        return ForeignFile.isBeingWritten(path)
    }

    /// Leaves a note and its file as they are for as long as a program has the file open to write.
    mutating func leaveOpen(_ record: FolderRecord) {
        leave(record.path, "A program has it open to write. It is brought in step with its note as soon as it is closed.", record.note)
        report.awaited.insert(record.note)
    }

    /// What the last call of the system says of a file that is left as it is.
    func cannotBeWritten() -> FilesError {
        FilesError(.cannotCreate, "It cannot be written (\(ForeignFile.systemMessage())).")
    }

    /// What was prepared is not needed.
    func giveUp(_ record: FolderRecord) throws {
        var record = record
        (record.intent, record.pending) = (nil, [])
        try save(record)
        unlink(place(temporary(record.note)))
    }

    /// Looks at what stood in the file before it was exchanged: what an editor has saved in the last moment is merged.
    /// - Returns: the record to be saved before the old file is removed; `nil` if that was done, or is to be done later.
    mutating func settle(_ prepared: FolderRecord, _ content: FolderContent, _ stamp: FileStamp?) throws -> FolderRecord? {
        var record = prepared
        let aside = place(temporary(record.note))
        guard case .file(let now) = ForeignFile.kind(aside),
            let swapped = try? ForeignFile.read(aside, bytesMax: MarkdownNote.bytesMax)
        else {
            try putBack(record)
            return nil
        }
        let isSame = Self.hash(swapped) == record.hash
        // A program still writes into the old file: the next pass sees what becomes of it.
        guard !ForeignFile.isBeingWritten(aside), isSame || isPast(now.modifiedMilliseconds, by: options.quietMilliseconds) else {
            if isPast(now.modifiedMilliseconds, by: options.openMilliseconds) {
                written.insert(record.note)
                leaveOpen(record)
            } else {
                wait(for: record.path, record.note)
            }
            return nil
        }
        let hash = Self.hash(record.pending)
        if isSame {
            record.take(content, hash: hash, stamp: stamp)
            return record
        }
        guard let saved = try? self.content(swapped, at: record.path) else {
            try putBack(record)
            return nil
        }
        try absorb(saved, Self.hash(swapped), nil, at: record.path, into: record, then: Replacement(content: content, hash: hash))
        report.read += 1
        again(record)
        unlink(aside)
        return nil
    }

    /// What stood in the file cannot be understood: it stays as it is, and is named.
    private mutating func putBack(_ record: FolderRecord) throws {
        readers?.forget(record.note)
        let (path, aside) = (place(record.path), place(temporary(record.note)))
        let isOurs = (try? ForeignFile.read(path, bytesMax: MarkdownNote.bytesMax)).map { Self.hash($0) == Self.hash(record.pending) }
        if isOurs != true || kith_exchange(aside, path) != 0 {
            _ = kith_rename_new(aside, place(try freePath(for: "\(record.title) (saved)", in: "")))
        }
        again(record)
        try giveUp(record)
    }

    /// Looks at a file and its note once more, with the next pass.
    mutating func again(_ record: FolderRecord) {
        report.pathsAgain.insert(FolderPath(record.path))
        report.notesAgain.insert(record.note)
    }
}
