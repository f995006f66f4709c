import ArgumentParser
import Foundation
import Kith
import KithNotes
import KithProgram
import KithReport

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say what the node is doing and, when it does not synchronise, why.",
        discussion: """
            Reads what the running node (`kith up`) says of itself. Without one, it says so.

            EXAMPLES
              kith status
              kith status --json
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let folders = try options.folders()
        let (trust, keyObstacle) = try options.trustIfPossible()
        let known = try options.withNotesIfReadable { notes in
            try StatusReport(notes, file: folders.notes, trust: trust, keyObstacle: keyObstacle)
        }
        // Where the notes cannot be read, a node may run all the same.
        let report =
            known ?? StatusReport(file: folders.notes, node: StatusReport.node(of: folders.notes), trust: trust, keyObstacle: keyObstacle)
        if options.json { try Console.output.write(json: report) } else { try report.write(to: .output) }
        if report.isLost { throw ExitCode(CommandFailure.Status.data.rawValue) }
    }
}
