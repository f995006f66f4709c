import ArgumentParser
import Foundation
import KithNotes

struct TodayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "today",
        abstract: "Write in the note of the day.",
        discussion: """
            Opens it in $VISUAL or $EDITOR, or adds lines to its end. It is the same note on all machines, also on two that make it before \
            they meet: then both texts are in it.

            EXAMPLES
              kith today
              kith today --add "Bread, coffee"
              date | kith today --add -
            """)

    @Option(parsing: .unconditional, help: "Text for the end of the note, on lines of its own; - reads it from standard input.")
    var add: String?

    @OptionGroup var options: StoreOptions

    func run() throws {
        let day = Date().formatted(Date.ISO8601FormatStyle(timeZone: .current).year().month().day())
        let before = try options.withNotes(makingFile: true) { try $0.note(ofDay: day) }
        let after: Note
        if let add {
            let text = add == "-" ? try StandardStreams.read("-", bytesMax: NoteLimits.bodyBytesMax) : add
            after = try options.withNotes { notes in
                try notes.edit(before.id) { note in
                    let start = note.body.isEmpty || note.body.hasSuffix("\n") ? "" : "\n"
                    note.body += start + (text.hasSuffix("\n") ? text : text + "\n")
                }
            }
        } else {
            after = try EditedFile.edit(before) { edited in try options.withNotes { try $0.save(edited, base: before) } }
        }
        if options.json { return try Console.output.write(json: NoteRecord(after)) }
        try Console.output.writeLine("The note of today is \(PlainText.line(after.label)).")
    }
}
