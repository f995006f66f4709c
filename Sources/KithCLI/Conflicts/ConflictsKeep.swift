import ArgumentParser
import KithNotes

extension NoteField: ExpressibleByArgument {}

struct ConflictsKeep: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keep",
        abstract: "Keep one version of a field; the others are given up on all devices.",
        discussion: """
            To merge by hand, keep one version and then edit the note. What is given up is printed once more.

            EXAMPLES
              kith conflicts keep Shopping title 2
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @Argument(help: "title or color.")
    var field: NoteField

    @Argument(help: "The number of the version, as `kith conflicts show` counts.")
    var version: Int

    @OptionGroup var options: StoreOptions

    func run() throws {
        let (note, conflict) = try options.withNotes { notes in
            let found = try notes.find(self.note)
            guard let conflict = try notes.conflicts(of: found).first(where: { $0.field == field }) else {
                throw CommandFailure(.noInput, "The \(field.rawValue) of \(found.label) has one version, so there is nothing to choose.")
            }
            guard conflict.versions.indices.contains(version - 1) else {
                throw CommandFailure(
                    .noInput,
                    "There is no version \(version); the \(field.rawValue) has \(conflict.versions.count). See kith conflicts show.")
            }
            return (try notes.keep(version - 1, of: conflict), conflict)
        }
        if options.json { return try Console.output.write(json: NoteRecord(note)) }
        try Console.output.writeLine("Kept version \(version) of the \(field.rawValue) of \(PlainText.line(note.label)). Given up:")
        for (index, other) in conflict.versions.enumerated() where index != version - 1 {
            try Console.output.writeLine(PlainText.block(other.text))
        }
    }
}
