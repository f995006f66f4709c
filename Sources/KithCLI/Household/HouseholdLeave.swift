import ArgumentParser
import Kith

struct HouseholdLeave: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave",
        abstract: "Take this machine out of its household, and keep all notes on it.",
        discussion: """
            From now on this machine shares its notes with no other one. A running `kith up` ends its connections within a second; \
            it then connects to the first member that it finds, only to say that this machine has left. To come back, run \
            `kith pair` again: what you write until then is shared as well.

            EXAMPLES
              kith household leave
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let trust = try options.trust()
        let report = HouseholdReport(trust)
        try trust.leave()
        if options.json { return try Console.output.write(json: HouseholdReport(trust)) }
        guard report.standing != "alone" else {
            return try Console.output.writeLine("This machine is by itself already.")
        }
        try Console.output.writeLine("This machine is by itself now. All notes are kept.")
        if trust.standing == .left {
            try Console.output.writeLine("The others hear of it when `kith up` runs here and meets one of them.")
        } else if report.standing == "left" || report.standing == "member" && report.members.count > 1 {
            try Console.output.writeLine(
                "The others were not told. On one of them: kith device revoke \(trust.ownID.shortDescription)")
        }
    }
}
