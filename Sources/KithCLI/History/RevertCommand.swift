import ArgumentParser
import Foundation
import Kith
import KithNotes

struct RevertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert",
        abstract: "Take back what one machine has changed since a moment.",
        discussion: """
            What others have changed since stays, and is listed. Deleted notes come back; the reversion is a change \
            like any other, on all machines. `kith history --device MACHINE --since MOMENT` shows before what would be taken back.

            EXAMPLES
              kith history --device laptop --since yesterday
              kith revert --device laptop --since yesterday
            """)

    @Option(
        help: ArgumentHelp("Whose changes: the name of a machine, or the beginning of its id; \"this\" is this one.", valueName: "machine"))
    var device: String

    @Option(help: ArgumentHelp("Since when: \(Moment.help)", valueName: "moment"))
    var since: Moment

    @OptionGroup var options: StoreOptions

    func run() throws {
        let report = try options.withNotes { notes in
            try StepReport(notes.revert(devices: options.authors(device, notes), since: since.date), notes, options)
        }
        try report.write(done: "Took back", nothing: "There was nothing to take back.")
    }
}
