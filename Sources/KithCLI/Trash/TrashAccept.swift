import ArgumentParser
import KithNotes
import KithReport

struct TrashAccept: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Say that a large deletion on another machine was meant.",
        discussion: """
            When another machine has deleted 50 notes within a day, and more than a third of them all, `kith status` says so, \
            and they stay in the trash for as long as you like. This ends that: they leave the trash when they are due.

            EXAMPLES
              kith trash accept
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let accepted = try options.withNotes { notes in
            let all = try notes.massDeletions()
            try notes.dismissMassDeletions()
            return all
        }
        if options.json { return try Console.output.write(json: accepted.map(MassDeletionRecord.init)) }
        let names = options.deviceNames()
        for deletion in accepted { try Console.output.writeLine("Accepted: \(deletion.sentence(names))") }
        if accepted.isEmpty { try Console.output.writeLine("Nothing waits to be accepted.") }
    }
}
