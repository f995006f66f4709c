import ArgumentParser

struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Say which machines share the notes.",
        discussion: """
            Each machine shows its id and is told the other's. Only machines that trust each other exchange anything.

            EXAMPLES
              kith device id                       on the laptop
              kith device add ID --name laptop     on the desk, with that id
              kith device list
            """,
        subcommands: [DeviceShowID.self, DeviceAdd.self, DeviceList.self, DeviceRemove.self, DeviceRename.self])
}
