import ArgumentParser
import Foundation
import Kith
import KithFiles
import KithNotes
import KithReport

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make the notes again from a backup.",
        discussion: """
            Only where there are no notes: what is there is never replaced. Where notes are gone or damaged, see `kith recover`. The \
            backup is read and checked first. Then `kith up` brings what the other machines have written since; nothing that was \
            deleted meanwhile comes back. Without a terminal the passphrase is the first line of standard input.

            EXAMPLES
              kith restore /media/stick/notes-2026-11.kithbackup
              kith restore old.kithbackup --store ~/old-notes/notes.sqlite
            """)

    @Argument(help: "The backup.", completion: .file(), transform: GivenPath.read)
    var file: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let place = try options.folders().notes
        let isSealed = NotesBackup.isSealed(file)
        var aside: [String] = []
        // A link that leads nowhere, as to a disk that is not in, is no missing file.
        let isMissing = (try? FileManager.default.attributesOfItem(atPath: place.path)) == nil
        // A command that only lists makes a file, too.
        let makeRoom: (() throws -> Void)? =
            isMissing || holdsNothing(place)
            ? {
                guard isMissing || holdsNothing(place) else {
                    throw CommandFailure(.cannotCreate, "Notes were written to \(place.path) meanwhile, and were left as they are.")
                }
                // A log that the lost notes have left would be taken for one of the backup's.
                aside = try SyncedDatabase.setAside(at: place.path, ending: RecoverCommand.ending)
            } : nil
        let report = try restore(to: place, isSealed, makeRoom)
        if let left = aside.last {
            let what = isMissing ? "What was left of the notes that were there" : "The file without notes that was there"
            try Console.error.writeLine(PlainText.line("\(what) is \(left) now."))
        }
        if options.json { return try Console.output.write(json: BackupRecord(report, isSealed: isSealed)) }
        try Console.output.writeLine(PlainText.line(Self.sentence(report, place)))
    }

    /// A backup that is refused leaves no folder for notes where there was none.
    private func restore(to place: URL, _ isSealed: Bool, _ makeRoom: (() throws -> Void)?) throws -> NotesBackup.Report {
        let folder = place.deletingLastPathComponent().path
        let isNew = !FileManager.default.fileExists(atPath: folder)
        let progress = ProgressLine()
        let words = "Reading the backup"
        if !isSealed { progress.say(words) }
        defer { progress.clear() }
        do {
            return try Passphrase.opening { passphrase in
                func ask() throws -> String {
                    let passphrase = try passphrase()
                    progress.say(words)
                    return passphrase
                }
                return try Interruption.leavingNothing { try NotesBackup.restore(file, to: place, passphrase: ask, makingRoom: makeRoom) }
            }
        } catch {
            // One that holds something stays.
            if isNew { rmdir(folder) }
            throw error
        }
    }

    /// Whether a store is there in which nothing was ever written, here or elsewhere.
    private func holdsNothing(_ place: URL) -> Bool {
        guard FileManager.default.fileExists(atPath: place.path), NotesStore.loss(in: place) == nil else { return false }
        return (try? options.withNotes { try $0.store.vector().isEmpty }) ?? false
    }

    static func sentence(_ report: NotesBackup.Report, _ place: URL) -> String {
        let files = report.attachments > 0 ? " with \(Count.text(report.attachments, "attachment"))" : ""
        return "Restored \(Count.text(report.notes, "note"))\(files) to \(place.path)."
    }
}
