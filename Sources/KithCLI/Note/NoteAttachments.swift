import ArgumentParser
import KithNotes

struct NoteAttachments: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attachments",
        abstract: "List the attachments of a note, and whether they are here.",
        discussion: """
            EXAMPLES
              kith note attachments Shopping
              kith note attachments Shopping --json
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let attachments = try options.withNotes(onlyReading: true) { try $0.attachments(of: $0.find(note).id) }
        if options.json { return try Console.output.write(json: attachments.map(AttachmentRecord.init)) }
        try attachments.table.write(to: .output)
        if attachments.isEmpty, Console.output.isTerminal { try Console.error.writeLine("No attachments.") }
    }
}
