import Foundation

/// Tells which files no program has read since Kith wrote them.
protocol FileReaders: AnyObject {
    /// What a program knew of a file that it saves now: what the file said when one may have read it last.
    func basis(of record: FolderRecord) -> FolderRecord
    /// Kith reads the file of a note, which is not the reading that is looked for.
    func willRead(_ note: UUID)
    /// Kith has read the file at `path`, which says what it said.
    func watchAgain(_ note: UUID, at path: String)
    /// What a program has saved in the last moment was replaced.
    func wasSaved(_ record: FolderRecord)
    /// Kith will put the file at `path` into the place of the one that says what `record` has.
    func willReplace(_ record: FolderRecord, by path: String)
    /// From now on a program may have read what the note's file says.
    func forget(_ note: UUID)
}

/// What files said before Kith wrote them anew, as long as no program has read what Kith wrote: an editor that saves such a file has had it
/// open for longer. Known for the files that Kith wrote last, from the moment on from which the folder is watched.
struct UnreadFiles {
    /// Files, and bytes of what they said.
    static let filesMax = 1_000
    static let bytesMax = 16 << 20

    private struct Entry {
        var basis: FolderRecord
        /// The hashes of what stood in the file before and after Kith wrote it. Another process may write it, too.
        let hashes: [[UInt8]]
        /// `nil` if nothing more is told of the file: it is being replaced.
        var watch: Int32?
        let number: Int
    }

    private var entries: [UUID: Entry] = [:]
    private var notes: [Int32: UUID] = [:]
    private var bytes = 0
    private var number = 0

    /// `nil` if a program may have read what the file says.
    func basis(of record: FolderRecord) -> FolderRecord? {
        guard let entry = entries[record.note], entry.hashes.contains(record.hash) else { return nil }
        return entry.basis
    }

    func watch(of note: UUID) -> Int32? { entries[note]?.watch }

    func isKnown(_ watch: Int32) -> Bool { notes[watch] != nil }

    /// What is pending takes the place of what the file says, and is watched.
    ///
    /// - Returns: the watches that are not needed any more.
    mutating func insert(_ record: FolderRecord, watch: Int32) -> [Int32] {
        let (note, basis) = (record.note, basis(of: record) ?? record)
        var ended = [remove(note)]
        number += 1
        entries[note] = Entry(basis: basis, hashes: [record.hash, FolderPass.hash(record.pending)], watch: watch, number: number)
        notes[watch] = note
        bytes += basis.body.utf8.count
        while entries.count > Self.filesMax || bytes > Self.bytesMax, let first = entries.min(by: { $0.value.number < $1.value.number }) {
            ended.append(remove(first.key))
        }
        return ended.compactMap { $0 }
    }

    func contains(_ note: UUID) -> Bool { entries[note] != nil }

    mutating func setWatch(_ watch: Int32, of note: UUID) {
        entries[note]?.watch = watch
        notes[watch] = note
    }

    mutating func setBasis(_ basis: FolderRecord) {
        guard let entry = entries[basis.note] else { return }
        bytes += basis.body.utf8.count - entry.basis.body.utf8.count
        entries[basis.note]?.basis = basis
    }

    /// The file was read, or written, or is not watched any more.
    mutating func take(_ watch: Int32, isRead: Bool) {
        guard let note = notes.removeValue(forKey: watch), entries[note]?.watch == watch else { return }
        if isRead { _ = remove(note) } else { entries[note]?.watch = nil }
    }

    /// - Returns: all watches.
    mutating func removeAll() -> [Int32] {
        defer { self = UnreadFiles() }
        return Array(notes.keys)
    }

    /// - Returns: the file's watch.
    mutating func remove(_ note: UUID) -> Int32? {
        guard let entry = entries.removeValue(forKey: note) else { return nil }
        bytes -= entry.basis.body.utf8.count
        if let watch = entry.watch { notes[watch] = nil }
        return entry.watch
    }
}
