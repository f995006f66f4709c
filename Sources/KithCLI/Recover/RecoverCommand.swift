import ArgumentParser
import Foundation
import Kith
import KithNotes

struct RecoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Say what can be done when the notes' file is gone, empty or damaged, and do it.",
        discussion: """
            Without options it changes nothing. With --refill what is left of the file is put aside, and a new one takes its \
            place, which the other machines refill while `kith up` runs. What was only on this machine does not come back by that: look \
            for a backup first. A backup is put in the place of the file while no `kith` runs; nothing else is needed.

            EXAMPLES
              kith recover
              kith recover --refill
            """)

    @Flag(help: "Put aside what is left, and let the other machines refill a new file.")
    var refill = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        let file = try options.folders().notes
        let devices = ((try? options.trustedDevices()) ?? []).map { $0.name.isEmpty ? $0.id.shortDescription : $0.name }
        let trouble = try trouble(with: file)
        guard let trouble else {
            if refill {
                throw CommandFailure(.usage, "Nothing was done: the notes in \(file.path) are there. `kith verify` reads all of them.")
            }
            return try report(Report(file, isLost: false, devices), "The notes in \(file.path) are there. `kith verify` reads all of them.")
        }
        guard refill else {
            try report(Report(file, isLost: true, devices), ([trouble] + Self.choices(file, devices)).joined(separator: "\n"))
            throw ExitCode(CommandFailure.Status.data.rawValue)
        }
        let names = try setAside(file)
        var storeOptions = try options.folders().notesOptions
        storeOptions.readsWhileWriting = false
        storeOptions.refillsLostStore = true
        try NotesStore.open(file, options: storeOptions).close()
        var result = Report(file, isLost: false, devices)
        result.setAside = names
        try report(result, Self.done(names, devices).joined(separator: "\n"))
    }

    /// Why the notes cannot be used; `nil` if they can, or if there never were any.
    private func trouble(with file: URL) throws -> String? {
        guard FileManager.default.fileExists(atPath: file.path) || NotesStore.loss(in: file) != nil else { return nil }
        do {
            _ = try options.withNotes { try $0.list() }
            return nil
        } catch let error as NotesError where [.lost, .corrupt, .notAStore].contains(error.code) {
            // A file that never was ours is not ours to move.
            if error.code == .notAStore, !FileManager.default.fileExists(atPath: file.path + "-kith") { throw error }
            return error.message
        }
    }

    private func setAside(_ file: URL) throws -> [String] {
        let format = Date.VerbatimFormatStyle(
            format:
                "\(year: .defaultDigits)\(month: .twoDigits)\(day: .twoDigits)-\(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased))\(minute: .twoDigits)\(second: .twoDigits)",
            timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
        return try SyncedDatabase.setAside(at: file.path, ending: ".lost-" + Date().formatted(format))
    }

    private func report(_ report: Report, _ text: String) throws {
        if options.json { return try Console.output.write(json: report) }
        for line in text.split(separator: "\n") { try Console.output.writeLine(PlainText.line(String(line))) }
    }

    private static func choices(_ file: URL, _ devices: [String]) -> [String] {
        let backup = "If you have a backup, put it at \(file.path) while no kith runs; then `kith verify`."
        if devices.isEmpty {
            return [backup, "No other machine is trusted, so none can refill it. To begin anew all the same: kith recover --refill"]
        }
        let names = devices.joined(separator: ", ")
        return [
            backup, "To let the other machines (\(names)) refill it: kith recover --refill",
            "That does not bring back what was only here. What is left of the file is put aside, not deleted.",
        ]
    }

    private static func done(_ names: [String], _ devices: [String]) -> [String] {
        var lines = names.isEmpty ? [] : ["What was left is in \(names.joined(separator: ", "))."]
        lines.append(
            devices.isEmpty
                ? "There is a new and empty file for notes. No other machine is trusted, so nothing comes back by itself."
                : "There is a new and empty file for notes. Run `kith up`: \(devices.joined(separator: ", ")) bring back what they have.")
        return lines
    }

    private struct Report: Encodable {
        let notes: String
        let isLost: Bool
        /// Who could refill it.
        let devices: [String]
        /// Where what was left is now; `nil` if nothing was done.
        var setAside: [String]?

        init(_ notes: URL, isLost: Bool, _ devices: [String]) {
            self.notes = notes.path
            self.isLost = isLost
            self.devices = devices
        }
    }
}
