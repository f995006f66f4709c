import ArgumentParser
import Foundation
import Kith
import KithFiles
import KithNotes

struct NoteSave: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Save a copy of an attachment as a file.",
        discussion: """
            Its bytes are compared with its hash first: what the disk has changed is never saved, and fetched again.

            If it is not here yet, it is asked for, whatever its size, and the command ends with status 75; the running node \
            fetches it as soon as it meets a device that has it.

            EXAMPLES
              kith note save Shopping photo.jpg
              kith note save Shopping photo.jpg --output ~/Pictures/shelf.jpg
              kith note save Log server.log.gz --output - | zcat
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @Argument(help: "The attachment's name, or the beginning or end of its id.")
    var attachment: String

    @Option(
        help: "The file, which must not exist yet; - is standard output. Without it: the attachment's name, in this folder.",
        completion: .file(), transform: GivenPath.read)
    var output: String?

    @OptionGroup var options: StoreOptions

    func run() throws {
        let (attachment, file) = try options.withNotes(onlyReading: true) { notes in
            let attachment = try notes.findAttachment(self.attachment, of: notes.find(self.note))
            if let file = try notes.provenFile(of: attachment) { return (attachment, file) }
            try notes.fetch(attachment)
            if try isDamaged(attachment, in: notes) {
                throw CommandFailure(
                    .data,
                    "\(attachment.label) is damaged on this disk, and was not saved. It was asked for; it comes again while `kith up` runs here and on a device that has it."
                )
            }
            throw CommandFailure(
                .temporary,
                "\(attachment.label) is not here yet (\(attachment.stateText)). It was asked for; it comes while `kith up` runs here and there."
            )
        }
        if output == "-" { return try write(file) }
        let target = try output ?? GivenPath.read(attachment.fileName)
        try Interruption.leavingNothing { try FileCopy.make(of: file.url, at: target) }
        if options.json { return try Console.output.write(json: AttachmentRecord(attachment)) }
        try Console.output.writeLine("Saved \(PlainText.line(target)).")
    }

    private func isDamaged(_ attachment: NoteAttachment, in notes: NotesStore) throws -> Bool {
        guard let content = attachment.content, case .damaged = notes.store.attachmentState(content) else { return false }
        return true
    }

    private func write(_ file: AttachmentFile) throws {
        let content = try FileHandle(forReadingFrom: file.url)
        defer { try? content.close() }
        while let chunk = try content.read(upToCount: 256 << 10), !chunk.isEmpty {
            try Console.output.write(bytes: [UInt8](chunk))
        }
    }
}
