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
        let known = try options.withNotesIfReadable { notes in
            (
                node: try options.runningNode(for: notes), safety: try notes.store.safety(among: trust.devices),
                attachments: try notes.store.wantedAttachments().count, refused: try notes.store.refusedRows().count
            )
        }
        var report = StatusReport(device: trust.ownID, notes: folders.notes, node: known?.node, trust: trust)
        report.safety = known?.safety
        report.attachmentsOnTheirWay = known?.attachments ?? 0
        report.refusedRows = known?.refused ?? 0
        if options.json { return try Console.output.write(json: report) }
        try report.write(to: .output)
    }
}
