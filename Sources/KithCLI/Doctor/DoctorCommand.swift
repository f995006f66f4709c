import ArgumentParser
import Foundation
import Kith
import KithNotes

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why machines do not meet, or what takes up room.",
        discussion: """
            Looks at this machine, its network and the other machines of the household, live, which takes some seconds, and says \
            what is wrong and what to do. It changes nothing. The exit status is 69 if something keeps machines apart.

            EXAMPLES
              kith doctor
              kith doctor --json
              kith doctor --size
            """)

    @Flag(help: "Say what takes up room in the file instead.")
    var size = false

    @Flag(help: "Do not look for others by mDNS.")
    var noDiscovery = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        if size {
            let report = SizeReport(try options.withNotes { try $0.store.size() })
            if options.json { return try Console.output.write(json: report) }
            return try report.write(to: .output)
        }
        let folders = try options.folders()
        let (trust, keyObstacle) = try options.trustIfPossible()
        let key = try keyObstacle == nil ? DeviceKey.load(from: folders.identity) : DeviceKey()
        var doctor = NetworkDoctor(key: key, trust: trust, store: folders.notes, app: NotesStore.app)
        doctor.usesDiscovery = !noDiscovery
        let loss = NotesStore.loss(in: folders.notes)
        let node = try loss != nil ? nil : options.runningNode()
        let conflicts = try loss != nil ? nil : options.withNotesIfReadable { try $0.conflicts() }
        var findings = await doctor.examine(node: node)
        if let conflicts { findings.append(DiagnosisFinding(conflicts, options.deviceNames())) }
        if let keyObstacle {
            findings.insert(
                DiagnosisFinding(
                    "key", .problem, "This machine has no key yet, and none can be made. \(keyObstacle)",
                    remedy: "Make room on the disk, or choose a folder that can be written: KITH_HOME."), at: 0)
        }
        if let obstacle = Self.obstacle(to: folders.notes) {
            findings.insert(
                DiagnosisFinding(
                    "notes", .problem, "The notes can only be read. \(obstacle)",
                    remedy: "Until this is mended nothing is written or synchronised."),
                at: 0)
        }
        if loss != nil {
            findings.insert(
                DiagnosisFinding(
                    "notes", .problem, "The notes are gone: their file is missing or empty, though there were notes.",
                    remedy: "Look for a backup, or let the other machines refill it: kith recover"), at: 0)
        }
        if options.json {
            try Console.output.write(json: findings)
        } else {
            for finding in findings { try Self.write(finding) }
        }
        if findings.contains(where: { $0.verdict == .problem }) { throw ExitCode(CommandFailure.Status.unavailable.rawValue) }
    }

    /// Why nothing can be written into the folder of the notes; `nil` if something can, or if there is no such folder yet.
    private static func obstacle(to notes: URL) -> String? {
        let folder = notes.deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: folder.path), !FileManager.default.isWritableFile(atPath: folder.path) else {
            return nil
        }
        return "Its folder \(folder.path) cannot be written."
    }

    private static func write(_ finding: DiagnosisFinding) throws {
        let (mark, style): (String, TextStyle) =
            switch finding.verdict {
            case .good: ("ok", .green)
            case .warning: ("look", .bold)
            case .problem: ("WRONG", .red)
            }
        try Console.output.writeLine(
            Console.output.styled(mark.padded(toWidth: 6), style) + PlainText.line(finding.sentence))
        if let remedy = finding.remedy { try Console.output.writeLine("      " + PlainText.line(remedy)) }
    }
}

extension DiagnosisFinding {
    /// Conflicts keep no machines apart, and want to be seen.
    fileprivate init(_ conflicts: [NoteConflict], _ names: DeviceNames) {
        guard let first = conflicts.first else {
            self.init("conflicts", .good, "No note has several versions of a title or a color.")
            return
        }
        let rest = conflicts.count == 1 ? "" : " \(conflicts.count - 1) more wait\(conflicts.count == 2 ? "s" : "") for a choice."
        self.init("conflicts", .warning, first.sentence(names) + rest, remedy: "Choose: kith conflicts list")
    }
}
