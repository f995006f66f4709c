import ArgumentParser
import Kith
import KithNotes
import KithReport

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
        let (note, conflicts) = try options.withNotes(onlyReading: true) { notes in
            let note = try notes.find(self.note)
            return (note, try notes.conflicts(of: note))
        }
        let names = options.deviceNames()
        if options.json { return try Console.output.write(json: conflicts.map { ConflictRecord($0, names) }) }
        let console = Console.output
        if conflicts.isEmpty { return try console.writeLine("\(PlainText.line(note.label)) has one version of everything.") }
        var counts: [NoteField: Int] = [:]
        for conflict in conflicts {
            let first = 1 + counts[conflict.field, default: 0]
            counts[conflict.field, default: 0] += conflict.versions.count
            if let lines = conflict.lines {
                try console.writeLine(console.styled("\(conflict.field.rawValue), as it stands", .bold))
                try Self.write(lines.shown, to: console)
            }
            for (index, version) in conflict.versions.enumerated() {
                let heading = "\(conflict.field.rawValue) \(first + index)\(index == 0 && conflict.lines == nil ? ", shown" : "")"
                let origin = "  \(PlainText.line(names[version.author] ?? "another device")), \(WrittenTime(version.written).text)"
                try console.writeLine(console.styled(heading, .bold) + console.styled(origin, .dim))
                try Self.write(version.text, to: console)
            }
            let hint = conflict.lines == nil ? "" : "  (0: as it stands; an edit of the line does as much)"
            try console.writeLine("Choose: kith conflicts keep \(note.shortID) \(conflict.field.rawValue) \(first)\(hint)\n")
        }
    }

    private static func write(_ text: String, to console: Console) throws {
        for line in PlainText.block(text).split(separator: "\n", omittingEmptySubsequences: false) {
            try console.writeLine("    \(line)")
        }
    }
}
