import ArgumentParser
import Kith
import KithNotes

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read all of the notes and check that nothing is damaged.",
        discussion: """
            Checks the file, and that every note agrees with what is known of its changes. Takes a few seconds for \
            100,000 notes and may run beside `kith up`. Ends with status 65 if something is wrong.

            EXAMPLES
              kith verify
              kith verify --json | jq .problems
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let result = try options.withNotes { notes in
            let result = try notes.store.verify()
            // So that the next comparison with another machine looks at every row.
            if !result.isSound { try notes.store.distrustDigest() }
            return result
        }
        if options.json {
            try Console.output.write(json: Report(result))
        } else if result.isSound {
            try Console.output.writeLine("All is well: \(result.rowCount) rows were read, deleted ones included.")
            for row in result.refusedRows {
                try Console.output.writeLine(PlainText.line("Row \(row.id) of \(row.table) is refused, and kept: \(row.reason)"))
            }
        } else {
            for problem in result.problems { try Console.output.writeLine(PlainText.line(problem)) }
        }
        if !result.isSound {
            let isAll = result.problems.count < Verification.problemsMax
            throw CommandFailure(
                .data,
                """
                \(isAll ? "" : "at least ")\(result.problems.count) problems were found. Copy the file, then let the other \
                machines mend it: `kith up` compares with them. If it does not, move the file away and they refill a new one.
                """)
        }
    }

    private struct Report: Encodable {
        let isSound: Bool
        /// Rows that were read, deleted ones included.
        let rows: Int
        let problems: [String]
        /// Rows that rules of their tables refuse.
        let refused: Int

        init(_ result: Verification) {
            isSound = result.isSound
            rows = result.rowCount
            problems = result.problems
            refused = result.refusedRows.count
        }
    }
}
