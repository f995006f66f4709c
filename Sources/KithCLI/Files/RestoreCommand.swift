import ArgumentParser
import Foundation
import Kith
import KithFiles
import KithNotes
import KithReport

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

    @Argument(help: "The backup.", completion: .file())
    var file: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let place = try options.folders().notes
        let isSealed = NotesBackup.isSealed(file)
        // A command that only lists makes a file, too.
        var aside: [String] = []
        let makeRoom: (() throws -> Void)? =
            holdsNothing(place)
            ? {
                guard holdsNothing(place) else {
                    throw CommandFailure(.cannotCreate, "Notes were written to \(place.path) meanwhile, and were left as they are.")
                }
                aside = try SyncedDatabase.setAside(at: place.path, ending: RecoverCommand.ending)
            } : nil
        let report = try Interruption.leavingNothing {
            try NotesBackup.restore(file, to: place, passphrase: { try Passphrase.read(isNew: false) }, makingRoom: makeRoom)
        }
        if let empty = aside.last { try Console.error.writeLine(PlainText.line("The file without notes that was there is \(empty) now.")) }
        if options.json { return try Console.output.write(json: BackupRecord(report, isSealed: isSealed)) }
        try Console.output.writeLine(PlainText.line(Self.sentence(report, place)))
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
