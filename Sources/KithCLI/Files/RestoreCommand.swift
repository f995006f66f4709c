import ArgumentParser
import Foundation
import KithFiles
import KithReport

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make the notes again from a backup.",
        discussion: """
            Only where there are no notes: what is there is never replaced. The backup is read and checked first. Then `kith up` \
            brings what the other machines have written since; nothing that was deleted meanwhile comes back. \
            Without a terminal the passphrase is the first line of standard input.

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
        let report = try NotesBackup.restore(file, to: place) { try Passphrase.read(isNew: false) }
        if options.json { return try Console.output.write(json: BackupRecord(report, isSealed: isSealed)) }
        let files = report.attachments > 0 ? " with \(Count.text(report.attachments, "attachment"))" : ""
        try Console.output.writeLine(PlainText.line("Restored \(Count.text(report.notes, "note"))\(files) to \(place.path)."))
    }
}
