import ArgumentParser
import Foundation
import KithNotes

struct ConflictsList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the notes of which several versions are kept.",
        discussion: """
            EXAMPLES
              kith conflicts list
              kith conflicts list --json
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let conflicts = try options.withNotes(onlyReading: true) { try $0.conflicts() }
        if options.json {
            let names = options.deviceNames()
            return try Console.output.write(json: conflicts.map { ConflictRecord($0, names) })
        }
        var table = TextTable(header: ["ID", "TITLE", "FIELD", "VERSIONS"], flexibleColumns: 1)
        table.rows = conflicts.map { conflict in
            [
                .init(String(conflict.noteID.uuidString.suffix(8)).lowercased(), .dim), .init(conflict.title, .bold),
                .init(conflict.field.rawValue), .init(String(conflict.versions.count)),
            ]
        }
        try table.write(to: .output)
        if conflicts.isEmpty, Console.output.isTerminal { try Console.error.writeLine("Nothing to choose.") }
    }
}
