import ArgumentParser
import Foundation
import Kith

struct DeviceList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the machines that this one trusts.",
        discussion: """
            EXAMPLES
              kith device list
              kith device list --json
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let devices = try options.trust().devices
        if options.json { return try Console.output.write(json: devices.map(DeviceRecord.init)) }
        var table = TextTable(header: ["NAME", "ID", "SINCE", "ADDRESSES"], flexibleColumn: 3)
        table.rows = devices.map { device in
            [
                .init(device.name.isEmpty ? "(no name)" : device.name, .bold), .init(device.id.shortDescription),
                .init(TimeText(milliseconds: Int64(clamping: Int(device.added.timeIntervalSince1970) * 1_000))?.local ?? "unknown", .dim),
                .init(device.addresses.map(\.description).joined(separator: ", ")),
            ]
        }
        try table.write(to: .output)
        if devices.isEmpty, Console.output.isTerminal {
            try Console.error.writeLine("No other machine is trusted. Add one: kith device add ID --name NAME")
        }
    }
}
