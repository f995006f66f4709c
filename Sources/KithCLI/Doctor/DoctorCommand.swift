import ArgumentParser
import Foundation
import Kith
import KithNotes
import KithReport

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
            let report = SizeReport(
                try options.withNotes(needingNotes: true, onlyReading: true) { try $0.store.size() }, options.deviceNames())
            if options.json { return try Console.output.write(json: report) }
            return try report.write(to: .output)
        }
        let folders = try options.folders()
        var checkup: Checkup
        do {
            let (trust, keyObstacle) = try options.trustIfPossible()
            checkup = Checkup(file: folders.notes, identity: folders.identity, trust: .success(trust), keyObstacle: keyObstacle)
        } catch let error as TrustError {
            checkup = Checkup(file: folders.notes, identity: folders.identity, trust: .failure(error), keyObstacle: nil)
        }
        checkup.usesDiscovery = !noDiscovery
        let isLost = NotesStore.loss(in: folders.notes) != nil
        let findings = await checkup.findings(try isLost ? nil : options.withNotesIfReadable { try $0.conflicts() })
        if options.json {
            try Console.output.write(json: findings)
        } else {
            for finding in findings { try Self.write(finding) }
        }
        if findings.contains(where: { $0.verdict == .problem }) { throw ExitCode(CommandFailure.Status.unavailable.rawValue) }
    }

    private static func write(_ finding: DiagnosisFinding) throws {
        let style: TextStyle =
            switch finding.verdict {
            case .good: .green
            case .warning: .bold
            case .problem: .red
            }
        try Console.output.writeLine(
            Console.output.styled(finding.verdict.word.padded(toWidth: 6), style) + PlainText.line(finding.sentence))
        if let remedy = finding.remedy { try Console.output.writeLine("      " + PlainText.line(remedy)) }
    }
}
