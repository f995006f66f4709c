import ArgumentParser
import KithNotes

struct NoteDetach: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "detach",
        abstract: "Remove an attachment from a note, here and on all devices.",
        discussion: """
            EXAMPLES
              kith note detach Shopping photo.jpg
              kith note detach Shopping 8f3a91c2
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @Argument(help: "The attachment's name, or the beginning or end of its id.")
    var attachment: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let detached = try options.withNotes { notes in
            let attachment = try notes.findAttachment(attachment, of: notes.find(note))
            try notes.detach(attachment)
            return attachment
        }
        if options.json { return try Console.output.write(json: AttachmentRecord(detached)) }
        try Console.output.writeLine("Detached \(PlainText.line(detached.label)).")
    }
}
