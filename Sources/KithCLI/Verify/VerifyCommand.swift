import ArgumentParser
import Kith
import KithNotes
import KithReport

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read all of the notes and check that nothing is damaged.",
        discussion: """
            Checks the file, that every note agrees with what is known of its changes, and the bytes of all attachments. Takes a few seconds for \
            100,000 notes, as long as the disk for attachments, and may run beside `kith up`. Ends with status 65 if something is wrong.

            Names a note that was changed behind Kith's back until another machine has mended it, or somebody has written it. If nobody can, \
            --accept takes such notes as they are.

            EXAMPLES
              kith verify
              kith verify --json | jq .problems
              kith verify --accept
            """)

    @Flag(help: "Take what was changed behind Kith's back as it is.")
    var accept = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        let (result, attachments, damaged) = try options.withNotes(needingNotes: true, onlyReading: !accept) { notes in
            let progress = ProgressLine()
            progress.say("Reading the notes")
            defer { progress.clear() }
            if accept {
                try notes.store.distrustDigest()
                try notes.store.forgetMending()
            }
            var result = try notes.store.verify()
            // So that the next comparison with another machine looks at every row.
            if !result.isSound { try? notes.store.distrustDigest(result.changed) }
            let count = notes.store.attachmentsHere().count
            if count > 0 { progress.say("Reading \(Count.text(count, "attachment"))") }
            var damaged: [AttachmentRecord] = []
            for id in try notes.store.verifyAttachments() {
                let shown = try notes.attachments(withContent: id)
                damaged += shown.map(AttachmentRecord.init)
                let name = shown.first.map { "The attachment \($0.label)" } ?? "An attachment that only deleted or older notes have"
                result.problems.append("\(name) is damaged. It is fetched again from a machine that has it.")
            }
            if result.isSound, notes.readOnlyReason == nil {
                // What is sound now shows the next time that it was changed.
                try notes.store.noteDigest()
                try notes.store.forgetMending()
            }
            return (result, count, damaged)
        }
        if options.json {
            try Console.output.write(json: Report(result, attachments, damaged))
        } else if result.isSound {
            try Console.output.writeLine("All is well: \(result.rowCount) rows were read, deleted ones included\(Self.also(attachments)).")
            for row in result.refusedRows {
                try Console.output.writeLine(PlainText.line("Row \(row.id) of \(row.table) is refused, and kept: \(row.reason)"))
            }
        } else {
            for problem in result.problems { try Console.output.writeLine(PlainText.line(problem)) }
        }
        if !result.isSound {
            let count = result.problems.count
            let isAll = count < Verification.problemsMax
            let found = "\(count == 1 ? "1 problem was" : "\(isAll ? "" : "at least ")\(count) problems were") found."
            throw CommandFailure(
                .data,
                result.isFileDamaged
                    ? "\(found) The file is damaged, which other machines cannot mend. Copy it, and then: kith recover"
                    : """
                    \(found) Copy the file, then let the other machines mend it: `kith up` compares with them. If it does not, put a backup in \
                    its place or let them refill a new one (kith recover), or take changed notes as they are: kith verify --accept
                    """)
        }
    }

    private static func also(_ attachments: Int) -> String {
        switch attachments {
        case 0: ""
        case 1: ", and 1 attachment"
        default: ", and \(attachments) attachments"
        }
    }

    private struct Report: Encodable {
        let isSound: Bool
        /// Rows that were read, deleted ones included.
        let rows: Int
        let problems: [String]
        /// Attachments whose bytes were read.
        let attachments: Int
        /// As notes show them.
        let damagedAttachments: [AttachmentRecord]
        /// Rows that rules of their tables refuse.
        let refused: Int

        init(_ result: Verification, _ attachments: Int, _ damaged: [AttachmentRecord]) {
            self.attachments = attachments
            damagedAttachments = damaged
            isSound = result.isSound
            rows = result.rowCount
            problems = result.problems
            refused = result.refusedRows.count
        }
    }
}
