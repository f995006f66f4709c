import ArgumentParser

struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Say which machines share the notes.",
        discussion: """
            `kith pair` adds machines; this is for the rest. Without pairing, each machine shows its id and is told the other's. \
            Only machines that trust each other exchange anything.

            EXAMPLES
              kith device id                       on the laptop
              kith device add ID --name laptop     on the desk, with that id
              kith device list
              kith device revoke laptop
              kith device renew                    this machine's key may have been copied
              kith device export desk.kith         a backup of the key, behind a passphrase
            """,
        subcommands: [
            DeviceShowID.self, DeviceAdd.self, DeviceList.self, DeviceRevoke.self, DeviceRename.self, DeviceRenew.self,
            DeviceExport.self, DeviceImport.self,
        ])
}
