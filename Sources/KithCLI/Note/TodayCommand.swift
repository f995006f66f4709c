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
        let after: Note?
        if let add {
            let text = add == "-" ? try StandardStreams.read("-", bytesMax: NoteLimits.bodyBytesMax) : add
            after = try options.withNotes(makingFile: true) { notes in
                try notes.edit(notes.note(ofDay: day).id) { note in
                    let start = note.body.isEmpty || note.body.hasSuffix("\n") ? "" : "\n"
                    note.body += start + (text.hasSuffix("\n") ? text : text + "\n")
                }
            }
        } else {
            // Nothing is made before the editor has run: it may be missing, or be left without a word.
            let (before, isNew) = try options.withNotes(makingFile: true) { notes in
                let note = try notes.noteThere(ofDay: day)
                return (try note ?? notes.newNote(ofDay: day), note == nil)
            }
            after = try EditedFile.edit(before) { edited -> Note? in
                if isNew, edited.fieldsThatDiffer(from: before).isEmpty { return nil }
                return try options.withNotes { notes in
                    if isNew { _ = try notes.note(ofDay: day) }
                    return try notes.save(edited, base: before)
                }
            }
        }
        if options.json { return try Console.output.write(json: after.map { NoteRecord($0) }) }
        guard let after else { return try Console.output.writeLine("Nothing was written, so no note was made.") }
        try Console.output.writeLine("The note of today is \(PlainText.line(after.label)).")
    }
}
