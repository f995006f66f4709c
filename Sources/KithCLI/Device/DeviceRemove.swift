import ArgumentParser
import Kith

struct DeviceRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Stop trusting a machine.",
        discussion: """
            It gets nothing from now on; what it has, it keeps. A running node closes the connection within a second.

            EXAMPLES
              kith device remove laptop
            """)

    @Argument(help: "The name, the id, or the beginning of the id.")
    var device: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let trust = try options.trust()
        let device = try trust.find(device)
        try trust.remove(device.id)
        if options.json { return try Console.output.write(json: DeviceRecord(device)) }
        try Console.output.writeLine("This machine no longer trusts \(PlainText.line(device.label)).")
    }
}
