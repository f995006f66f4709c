import ArgumentParser
import Kith

struct HouseholdLeave: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave",
        abstract: "Share nothing with anybody from now on, and keep all notes.",
        discussion: """
            A running node closes its connections within a second. To come back, run `kith pair` again: nothing is lost in between.

            EXAMPLES
              kith household leave
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let trust = try options.trust()
        let report = HouseholdReport(trust)
        let others = trust.devices.count
        try trust.leave()
        if options.json { return try Console.output.write(json: HouseholdReport(trust)) }
        guard trust.standing == .alone, report.standing != "alone" else {
            return try Console.output.writeLine("This machine is by itself already.")
        }
        try Console.output.writeLine("This machine is by itself now. All notes are kept.")
        if others > 0 {
            try Console.output.writeLine(
                "The others still count it as theirs. On one of them: kith device revoke \(trust.ownID.shortDescription)")
        }
    }
}
