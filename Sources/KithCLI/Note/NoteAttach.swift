import ArgumentParser
import Foundation
import KithNotes

struct NoteAttach: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach",
        abstract: "Attach copies of files to a note.",
        discussion: """
            The bytes travel apart from the note. On the other devices the note shows at once that they are on their way. A second file of \
            a name gets a number.

            EXAMPLES
              kith note attach Shopping list.pdf photo.jpg
              kith note attach Shopping IMG_2231.JPG --name shelf.jpg
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @Argument(help: "The files.", completion: .file(), transform: GivenPath.read)
    var files: [String]

    @Option(help: "Another name for the file.")
    var name: String?

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if name != nil, files.count > 1 { throw ValidationError("--name is for one file.") }
    }

    func run() throws {
        var attached: [NoteAttachment] = []
        // Those before one that cannot be attached stay attached, and are said.
        let result = Result {
            try options.withNotes { notes in
                let note = try notes.find(note)
                for file in files {
                    let (url, taken) = (URL(filePath: file), try notes.attachments(of: note.id).map(\.name))
                    let name = NoteAttachment.freeName(name ?? url.lastPathComponent, among: taken)
                    attached.append(try notes.attach(url, to: note.id, name: name))
                }
            }
        }
        if options.json, !attached.isEmpty { try Console.output.write(json: attached.map(AttachmentRecord.init)) }
        if !options.json { for attachment in attached { try Console.output.writeLine("Attached \(PlainText.line(attachment.label)).") } }
        try result.get()
    }
}
