import ArgumentParser
import Foundation
import Kith
import KithFiles
import KithNotes

struct RecoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Say what can be done when the notes' file is gone, empty or damaged, and do it.",
        discussion: """
            Without options it reads all of the notes and changes nothing. What was only on this machine does not come back from the \
            others: look for a backup first.

            --restore checks a backup of `kith backup` and puts it in the place of the file; `kith up` then brings what the other \
            machines have written since. --refill puts a new file there, which the other machines fill while `kith up` runs. Both are for \
            notes that are gone or damaged alone, put what is left of the file aside, and need `kith up` to be stopped first.

            EXAMPLES
              kith recover
              kith recover --restore /media/stick/notes-2026-11.kithbackup
              kith recover --refill
            """)

    @Option(
        help: ArgumentHelp("Put aside what is left, and make the notes again from a backup.", valueName: "backup"), completion: .file(),
        transform: GivenPath.read)
    var restore: String?

    @Flag(help: "Put aside what is left, and let the other machines refill a new file.")
    var refill = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if refill, restore != nil { throw ValidationError("Give either --restore or --refill.") }
    }

    func run() throws {
        let file = try options.folders().notes
        guard FileManager.default.fileExists(atPath: file.path) || NotesStore.loss(in: file) != nil else {
            throw CommandFailure(
                .noInput, "There are no notes in \(file.path), and none are known to have been. From a backup: kith restore FILE")
        }
        let devices = ((try? options.trustedDevices()) ?? []).map { $0.name.isEmpty ? $0.id.shortDescription : $0.name }
        guard let trouble = try trouble(with: file) else {
            let words = "The notes in \(file.path) are there, and all of them can be read."
            guard refill || restore != nil else { return try report(Report(file, devices), words) }
            let help =
                "To have a backup in their place, move \(file.deletingLastPathComponent().path) away first, and then: kith restore FILE"
            throw CommandFailure(.usage, "Nothing was done. \(words)" + (restore == nil ? "" : " " + help))
        }
        var result = Report(file, devices)
        if let restore {
            var names: [String] = []
            let ending = Self.ending
            let backup: NotesBackup.Report
            do {
                backup = try Passphrase.opening { passphrase in
                    try Interruption.leavingNothing {
                        try NotesBackup.restore(restore, to: file, passphrase: passphrase) {
                            names = try SyncedDatabase.setAside(at: file.path, ending: ending)
                        }
                    }
                }
            } catch {
                Self.bringBack(names, ending)
                throw error
            }
            result.setAside = names
            return try report(result, (Self.left(names) + [RestoreCommand.sentence(backup, file)]).joined(separator: "\n"))
        }
        guard refill else {
            result.isLost = trouble.isLost
            result.problems = trouble.problems
            let lines = [trouble.sentence] + trouble.problems.prefix(3) + Self.choices(file, devices)
            try report(result, lines.joined(separator: "\n"))
            throw ExitCode(CommandFailure.Status.data.rawValue)
        }
        let names = try SyncedDatabase.setAside(at: file.path, ending: Self.ending)
        var storeOptions = try options.folders().notesOptions
        storeOptions.readsWhileWriting = false
        storeOptions.refillsLostStore = true
        try NotesStore.open(file, options: storeOptions).close()
        result.setAside = names
        try report(result, Self.done(names, devices).joined(separator: "\n"))
    }

    private struct Trouble {
        let sentence: String
        /// What `kith verify` names; empty if the file cannot be opened.
        var problems: [String] = []
        var isLost: Bool { problems.isEmpty }
    }

    /// Why the notes cannot be used, or not all of them; `nil` if they can.
    private func trouble(with file: URL) throws -> Trouble? {
        do {
            let problems = try options.withNotes { notes in
                _ = try notes.list()
                do throws(StoreError) {
                    return try notes.store.verify().problems
                } catch  where error.code == .corrupt {
                    return [error.message]
                }
            }
            if problems.isEmpty { return nil }
            return Trouble(sentence: "The notes in \(file.path) are damaged: `kith verify` says where.", problems: problems)
        } catch let error as NotesError where [.lost, .corrupt, .notAStore].contains(error.code) {
            // A file that never was ours is not ours to move.
            if error.code == .notAStore, !SyncedDatabase.wasStore(at: file) { throw error }
            return Trouble(sentence: error.message)
        }
    }

    /// Gives files their names again that made room for a backup which could not be put there.
    private static func bringBack(_ names: [String], _ ending: String) {
        for name in names { try? FileManager.default.moveItem(atPath: name, toPath: name.replacing(ending, with: "")) }
    }

    /// What is put behind the name of a file that makes room.
    static var ending: String {
        let format = Date.VerbatimFormatStyle(
            format:
                "\(year: .defaultDigits)\(month: .twoDigits)\(day: .twoDigits)-\(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased))\(minute: .twoDigits)\(second: .twoDigits)",
            timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
        return ".lost-" + Date().formatted(format)
    }

    private func report(_ report: Report, _ text: String) throws {
        if options.json { return try Console.output.write(json: report) }
        for line in text.split(separator: "\n") { try Console.output.writeLine(PlainText.line(String(line))) }
    }

    private static func choices(_ file: URL, _ devices: [String]) -> [String] {
        let backup = [
            "If you have a backup: kith recover --restore FILE",
            "If you have a copy of the file itself, put it at \(file.path) while no kith runs; then `kith verify`.",
        ]
        if devices.isEmpty {
            return backup + ["No other machine is trusted, so none can refill it. To begin anew all the same: kith recover --refill"]
        }
        let names = devices.joined(separator: ", ")
        return backup + [
            "To let the other machines (\(names)) refill it: kith recover --refill",
            "That does not bring back what was only here. What is left of the file is put aside, not deleted.",
        ]
    }

    private static func left(_ names: [String]) -> [String] {
        names.isEmpty ? [] : ["What was left is in \(names.joined(separator: ", "))."]
    }

    private static func done(_ names: [String], _ devices: [String]) -> [String] {
        left(names) + [
            devices.isEmpty
                ? "There is a new and empty file for notes. No other machine is trusted, so nothing comes back by itself."
                : "There is a new and empty file for notes. Run `kith up`: \(devices.joined(separator: ", ")) bring back what they have."
        ]
    }

    private struct Report: Encodable {
        let notes: String
        var isLost = false
        /// What is damaged, as `kith verify` says it.
        var problems: [String] = []
        /// Who could refill it.
        let devices: [String]
        /// Where what was left is now; `nil` if nothing was done.
        var setAside: [String]?

        init(_ notes: URL, _ devices: [String]) {
            self.notes = notes.path
            self.devices = devices
        }
    }
}
