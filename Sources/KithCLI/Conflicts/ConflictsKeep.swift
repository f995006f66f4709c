import ArgumentParser
import KithNotes

extension NoteField: ExpressibleByArgument {}

struct ConflictsKeep: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keep",
        abstract: "Keep one version of a field; the others are given up on all devices.",
        discussion: """
            To merge by hand, keep one version and then edit the note. What is given up is printed once more. Of a body, 0 \
            keeps all its places as they stand there now.

            EXAMPLES
              kith conflicts keep Shopping title 2
              kith conflicts keep Shopping body 1
            """)

    @Argument(help: "The title, or the beginning or end of the id.")
    var note: String

    @Argument(help: "title, body or color; tags never need a choice.")
    var field: NoteField

    @Argument(help: "The number of the version, as `kith conflicts show` counts.")
    var version: Int

    @OptionGroup var options: StoreOptions

    func run() throws {
        let (note, givenUp) = try options.withNotes { notes -> (Note, [String]) in
            let found = try notes.find(self.note)
            let conflicts = try notes.conflicts(of: found).filter { $0.field == field }
            if conflicts.isEmpty {
                throw CommandFailure(.noInput, "The \(field.rawValue) of \(found.label) has one version, so there is nothing to choose.")
            }
            if version == 0, field == .body { return (try keepMerged(conflicts, notes), []) }
            // The places of a body are counted through.
            var first = 1
            for conflict in conflicts {
                let index = version - first
                if conflict.versions.indices.contains(index) {
                    let others = conflict.versions.indices.filter { $0 != index }.map { conflict.versions[$0].text }
                    return (try notes.keep(index, of: conflict), others)
                }
                first += conflict.versions.count
            }
            throw CommandFailure(
                .noInput, "There is no version \(version); the \(field.rawValue) has \(first - 1). See kith conflicts show.")
        }
        if options.json { return try Console.output.write(json: NoteRecord(note)) }
        if version == 0 { return try Console.output.writeLine("Kept the body of \(PlainText.line(note.label)) as it stands.") }
        try Console.output.writeLine("Kept version \(version) of the \(field.rawValue) of \(PlainText.line(note.label)). Given up:")
        for other in givenUp { try Console.output.writeLine(PlainText.block(other)) }
    }

    private func keepMerged(_ conflicts: [NoteConflict], _ notes: NotesStore) throws -> Note {
        var note = try notes.find(self.note)
        for conflict in conflicts { note = try notes.keepMerged(conflict) }
        return note
    }
}
