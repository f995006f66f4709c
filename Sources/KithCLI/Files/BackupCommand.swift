import ArgumentParser
import Foundation
import Kith
import KithFiles
import KithReport

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Put all notes with their history, trash and attachments into one file.",
        discussion: """
            May run beside `kith up`; the notes are checked first, as by `kith verify`. Without a terminal the passphrase is the \
            first line of standard input. The key of this machine is not part of it: see `kith device export`.

            EXAMPLES
              kith backup /media/stick/notes-2026-11.kithbackup
              kith backup notes.kithbackup --passphrase
            """)

    @Argument(help: "The file to make, which must not exist.", completion: .file(), transform: GivenPath.read)
    var file: String

    @Flag(help: "Seal the file with a passphrase, which is asked for.")
    var passphrase = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        _ = try options.foldersWithFile(needingNotes: true)
        let secret = passphrase ? try Passphrase.readNew() : nil
        let report = try Interruption.leavingNothing {
            try options.withNotes(needingNotes: true, onlyReading: true) { notes in
                let progress = ProgressLine()
                progress.say("Writing the backup")
                defer { progress.clear() }
                return try NotesBackup.write(notes, to: file, passphrase: secret)
            }
        }
        if options.json { return try Console.output.write(json: BackupRecord(report, isSealed: passphrase)) }
        let files = report.attachments > 0 ? " with \(Count.text(report.attachments, "attachment"))" : ""
        let sealed = passphrase ? ", sealed" : ""
        let size = ByteText.text(report.bytes)
        try Console.output.writeLine(
            PlainText.line("Backed up \(Count.text(report.notes, "note"))\(files) to \(file) (\(size)\(sealed))."))
        for missing in report.missing { try Console.error.writeLine(PlainText.line(missing.sentence)) }
    }
}

/// A backup as JSON.
struct BackupRecord: Encodable {
    let notes: Int
    let attachments: Int
    let missing: Int
    let missingAttachments: [ExportReport.Missing]
    let bytes: Int64
    let isSealed: Bool

    init(_ report: NotesBackup.Report, isSealed: Bool) {
        (notes, attachments, bytes) = (report.notes, report.attachments, report.bytes)
        (missing, missingAttachments, self.isSealed) = (report.missing.count, report.missing, isSealed)
    }
}
