import ArgumentParser
import Kith

struct DeviceRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Stop trusting a machine, for instance one that was lost.",
        discussion: """
            In a household all other machines stop trusting it, too, as soon as they hear of it. It gets nothing from then on; \
            what it has, it keeps. A running node closes the connection within a second.

            EXAMPLES
              kith device revoke laptop
            """,
        aliases: ["remove"])

    @Argument(help: "The name, the id, or the beginning of the id.")
    var device: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let trust = try options.trust()
        let device = try trust.find(device)
        try trust.remove(device.id)
        if options.json { return try Console.output.write(json: DeviceRecord(device)) }
        if trust.standing == .member {
            try Console.output.writeLine("\(PlainText.line(device.label)) is not in the household any more.")
            try Console.output.writeLine("The other machines hear of it from this one; let `kith up` run here until they have.")
        } else {
            try Console.output.writeLine("This machine no longer trusts \(PlainText.line(device.label)).")
        }
    }
}
