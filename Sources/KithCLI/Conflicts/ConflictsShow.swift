import ArgumentParser
import Kith
import KithNotes

struct ConflictsShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show all versions of a note, with the machine that wrote each, and when.",
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
        let names = options.deviceNames()
        if options.json { return try Console.output.write(json: conflicts.map { ConflictRecord($0, names) }) }
        let console = Console.output
        if conflicts.isEmpty { return try console.writeLine("\(PlainText.line(note.label)) has one version of everything.") }
        for conflict in conflicts {
            for (index, version) in conflict.versions.enumerated() {
                let heading = "\(conflict.field.rawValue) \(index + 1)\(index == 0 ? ", shown" : "")"
                let time = TimeText(milliseconds: version.writtenMilliseconds)?.local ?? "at an unknown time"
                let origin = "  \(PlainText.line(names[version.author] ?? "another device")), \(time)"
                try console.writeLine(console.styled(heading, .bold) + console.styled(origin, .dim))
                for line in PlainText.block(version.text).split(separator: "\n", omittingEmptySubsequences: false) {
                    try console.writeLine("    \(line)")
                }
            }
            try console.writeLine("Choose: kith conflicts keep \(note.shortID) \(conflict.field.rawValue) 1\n")
        }
    }
}
