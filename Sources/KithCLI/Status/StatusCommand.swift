import ArgumentParser
import Foundation
import Kith

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say what the node is doing and, when it does not synchronise, why.",
        discussion: """
            Reads what the running node (`kith up`) says of itself. Without one, it says so.

            EXAMPLES
              kith status
              kith status --json
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let folders = try options.folders()
        let trust = try options.trust()
        let status = StatusFile(forStore: folders.notes).read()
        let report = StatusReport(device: trust.ownID, notes: folders.notes, node: status, devices: trust.devices)
        if options.json { return try Console.output.write(json: report) }
        try report.write(to: .output)
    }
}
