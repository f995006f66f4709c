import ArgumentParser
import Foundation
import Kith
import KithFiles
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
        let (trust, keyObstacle) = try options.trustIfPossible()
        let lost = NotesStore.loss(in: folders.notes)
        let known = try options.withNotesIfReadable { notes in
            let safety = try notes.store.safety(among: trust.devices)
            return (
                node: try options.runningNode(), safety: safety,
                sentence: safety.sentence(rows: "Texts") { Self.name(of: $0, in: notes) },
                attachments: try notes.store.wantedAttachments().count,
                mended: try notes.store.mending().map { mending in
                    StatusReport.Mended(mending, title: try? notes.title(ofMended: mending))
                }, conflicts: try notes.conflicts(), members: try notes.store.members(),
                massDeletions: try notes.massDeletions(), refused: try notes.store.refusedRows().count,
                folders: try NotesFolder.all(of: notes).map { StatusReport.Folder($0, try $0.state(in: notes)) }
            )
        }
        var report = StatusReport(
            device: keyObstacle == nil ? trust.ownID : nil, notes: folders.notes, node: known?.node, trust: trust, loss: lost)
        report.safety = known?.safety
        report.safetySentence = known?.sentence
        report.attachmentsOnTheirWay = known?.attachments ?? 0
        report.refusedRows = known?.refused ?? 0
        let massDeletions = known?.massDeletions ?? []
        report.massDeletions = massDeletions.map(MassDeletionRecord.init)
        report.warnings = massDeletions.map { $0.warning(DeviceNames(trust.devices)) }
        report.mended = known?.mended
        report.folders = known?.folders ?? []
        report.keyObstacle = keyObstacle
        report.noteConflicts = known?.conflicts ?? []
        for member in known?.members ?? [] where member.replica != nil {
            guard let id = DeviceID(bytes: member.device)?.description else { continue }
            report.lastSeenMilliseconds[id] = member.seenMilliseconds
        }
        if options.json { try Console.output.write(json: report) } else { try report.write(to: .output) }
        if lost != nil { throw ExitCode(CommandFailure.Status.data.rawValue) }
    }

    private static func name(of attachment: Safety.LooseAttachment, in notes: NotesStore) -> String? {
        AttachmentID(attachment.id).flatMap { try? notes.attachments(withContent: $0).first?.name }
    }
}
