import ArgumentParser
import Kith
import KithNotes

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look into what the notes need: how much room, and for what.",
        discussion: """
            EXAMPLES
              kith doctor --size
              kith doctor --size --json
            """)

    @Flag(help: "Say what takes up room in the file.")
    var size = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if !size { throw ValidationError("Say what to look at: --size.") }
    }

    func run() throws {
        let report = SizeReport(try options.withNotes { try $0.store.size() })
        if options.json { return try Console.output.write(json: report) }
        try report.write(to: .output)
    }
}
