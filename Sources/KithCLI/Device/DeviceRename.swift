import ArgumentParser
import Kith

struct DeviceRename: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Call a machine something else; in a household, on all of them.",
        discussion: """
            EXAMPLES
              kith device rename laptop "Old laptop"
            """)

    @Argument(help: "The name, the id, or the beginning of the id.")
    var device: String

    @Argument(help: "The new name.")
    var name: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let trust = try options.trust()
        let device = try trust.find(device)
        try trust.rename(device.id, to: name)
        let renamed = trust.device(device.id) ?? device
        if options.json { return try Console.output.write(json: DeviceRecord(renamed)) }
        try Console.output.writeLine("\(PlainText.line(device.label)) is now \(PlainText.line(renamed.label)).")
    }
}
