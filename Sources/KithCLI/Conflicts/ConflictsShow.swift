import ArgumentParser
import KithNotes

struct ConflictsShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show all versions of a note.",
        discussion: """
            EXAMPLES
              kith conflicts show Shopping
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let (note, conflicts) = try options.withNotes { notes in
            let note = try notes.find(self.note)
            return (note, try notes.conflicts(of: note))
        }
        if options.json { return try Console.output.write(json: conflicts.map(ConflictRecord.init)) }
        let console = Console.output
        if conflicts.isEmpty { return try console.writeLine("\(PlainText.line(note.label)) has one version of everything.") }
        for conflict in conflicts {
            for (index, version) in conflict.versions.enumerated() {
                let heading = "\(conflict.field.rawValue) \(index + 1)\(index == 0 ? ", shown" : "")"
                try console.writeLine(console.styled(heading, .bold))
                for line in PlainText.block(version.text).split(separator: "\n", omittingEmptySubsequences: false) {
                    try console.writeLine("    \(line)")
                }
            }
            try console.writeLine("Choose: kith conflicts keep \(note.shortID) \(conflict.field.rawValue) 1\n")
        }
    }
}
