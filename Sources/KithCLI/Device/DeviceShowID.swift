import ArgumentParser
import Kith

struct DeviceShowID: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "id",
        abstract: "Show the id of this machine.",
        discussion: """
            The id is not secret. It names this machine's key, which is made when it is first needed.

            EXAMPLES
              kith device id
              ssh attic kith device id
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let id = try DeviceKey.loadOrCreate(in: options.identity()).id
        if options.json { return try Console.output.write(json: ["id": id.description, "short": id.shortDescription]) }
        try Console.output.writeLine(id.description)
    }
}
