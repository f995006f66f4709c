import ArgumentParser
import Foundation
import Kith
import KithNotes

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
        let report = StatusReport(
            device: trust.ownID, notes: folders.notes, node: try status != nil && isNodeRunning() ? status : nil, devices: trust.devices)
        if options.json { return try Console.output.write(json: report) }
        try report.write(to: .output)
    }

    /// Whether a node still runs that has left its status; one that was killed could not remove it.
    private func isNodeRunning() throws -> Bool {
        try options.withNotes { notes in
            do {
                try notes.store.takeNodeLock().release()
                return false
            } catch let error as StoreError where error.code == .busy {
                return true
            }
        }
    }
}
