import ArgumentParser
import Foundation
import Kith
import KithNotes
import KithProgram
import KithReport

struct CarryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "carry",
        abstract: "Take changes from machine to machine on a stick, where no network joins them.",
        discussion: """
            A file holds what the others lack, sealed for the machines of the household. It may be read late, twice, in any order and \
            by each of them. What a machine has read it says in the file that it carries out itself; so take the stick to and fro. \
            carry.md of the documentation says more.

            EXAMPLES
              kith carry out /media/stick          here
              kith carry in /media/stick           there
              kith carry out /media/stick          there, so that this machine hears what has arrived
            """,
        subcommands: [CarryOutCommand.self, CarryInCommand.self])
}

struct CarryOutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "out",
        abstract: "Write what the other machines lack into a file.",
        discussion: """
            In a folder the file takes the place of the last one that this machine made for the same target. What that one has and this \
            machine has lost is taken in before. May run beside `kith up`.

            EXAMPLES
              kith carry out /media/stick
              kith carry out /media/stick --to laptop
              kith carry out changes.kithcarry --all
            """)

    @Argument(help: "The folder to write into, or a file whose name ends in .kithcarry.", completion: .file(), transform: GivenPath.read)
    var place: String

    @Option(help: ArgumentHelp("Only what this machine lacks: its name, its id, or the beginning of the id.", valueName: "device"))
    var to: String?

    @Flag(help: "Everything, whatever the others were heard to have.")
    var all = false

    @Flag(help: "Leave out the bytes of attachments.")
    var withoutAttachments = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        let trust = try options.trust()
        var wish = Carrier.Wish()
        wish.target = try to.map { try trust.find($0).id }
        wish.isWhole = all
        wish.includesAttachments = !withoutAttachments
        let progress = ProgressLine("changed rows written")
        let written = try options.withNotes { try $0.carrier(trust).write(to: place, wish, progress: progress.show) }
        progress.clear()
        let target = try to.map { PlainText.line(try trust.find($0).label) }
        if options.json { return try Console.output.write(json: CarriedOutRecord(written, for: target)) }
        let files = written.attachments > 0 ? " and \(Count.text(written.attachments, "attachment"))" : ""
        let rows = written.rows == 1 ? "1 changed row" : "\(written.rows) changed rows"
        let what = written.rows == 0 && written.attachments == 0 ? "what this machine has, and no changes," : "\(rows)\(files)"
        try Console.output.writeLine(
            "Wrote \(what) for \(target ?? "the other machines") to \(PlainText.line(written.path)) (\(ByteText.text(written.bytes))).")
        if written.rowsTakenBack > 0 {
            let lost = written.rowsTakenBack == 1 ? "1 changed row" : "\(written.rowsTakenBack) changed rows"
            try Console.output.writeLine("Before that, took in \(lost) of the last file: this machine had lost some of what it has.")
        }
        for path in written.kept {
            try Console.error.writeLine(
                PlainText.line(
                    """
                    Kept the file that was there before as \(path): it may have changes that are not here. Let the other machines read it; \
                    then delete it.
                    """))
        }
        if let words = written.wordsOnWithheld { try Console.error.writeLine(PlainText.line(words)) }
        try Console.output.writeLine("There: kith carry in; then kith carry out, so that this machine hears what has arrived.")
    }
}

struct CarryInCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "in",
        abstract: "Take in what another machine has carried out.",
        discussion: """
            Of a folder all files are read that `kith carry out` made, in whatever order they fit together. Nothing on the stick is \
            changed. Each file is read to its end and checked before anything of it is taken in. The exit status is 0 if no file was refused \
            and none waits for another one, 65 if one was refused or, of the files of others, none is for this machine, and 75 if one waits.

            EXAMPLES
              kith carry in /media/stick
              kith carry in changes.kithcarry --json
            """)

    @Argument(help: "The folder or file to read.", completion: .file(), transform: GivenPath.read)
    var place: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let trust = try options.trust()
        let progress = ProgressLine("changed rows read")
        let readings = try options.withNotes(makingFile: true) { try $0.carrier(trust).read(place, progress: progress.show) }
        progress.clear()
        if options.json {
            try Console.output.write(json: readings.map(CarriedInRecord.init))
        } else {
            for reading in readings { try show(reading) }
        }
        let (failed, waiting) = (readings.count { $0.outcome == .refused }, readings.count { $0.outcome == .needsEarlier })
        if failed > 0 || waiting > 0 { throw CommandFailure(failed > 0 ? .data : .temporary, Self.sentence(onNotTaken: readings)) }
        let others = readings.filter { $0.outcome != .own }
        if !others.isEmpty, others.allSatisfy({ $0.outcome == .notForUs }) {
            throw CommandFailure(.data, "Nothing there is for this machine.")
        }
    }

    /// How many files were not taken in, and why.
    private static func sentence(onNotTaken readings: [Carrier.Reading]) -> String {
        func part(_ outcome: Carrier.Outcome, _ one: String, _ many: String) -> String? {
            let count = readings.count { $0.outcome == outcome }
            if count == 0 { return nil }
            return (readings.count == 1 ? "" : "\(count) ") + (count == 1 ? one : many)
        }
        let parts = [
            part(.refused, "could not be taken in", "could not be taken in"),
            part(.needsEarlier, "waits for what is not here yet", "wait for what is not here yet"),
            part(.notForUs, "is not for this machine", "are not for this machine"),
        ].compactMap(\.self)
        return "\(readings.count == 1 ? "1 file" : "Of \(readings.count) files,") \(parts.joined(separator: ", "))."
    }

    private func show(_ reading: Carrier.Reading) throws {
        guard reading.outcome == .taken else { return try Console.output.writeLine(PlainText.line(reading.message)) }
        let files = reading.attachments > 0 ? " and \(Count.text(reading.attachments, "attachment"))" : ""
        let rows = reading.rows == 1 ? "1 changed row" : "\(reading.rows) changed rows"
        try Console.output.writeLine(PlainText.line("Took in \(rows)\(files) of \(reading.writer ?? "a machine"): \(reading.path)"))
    }
}

extension NotesStore {
    /// Carries these notes for this device.
    fileprivate func carrier(_ trust: TrustStore) throws -> Carrier {
        let key = try DeviceKey.load(from: trust.file.deletingLastPathComponent())
        return Carrier(store: store, key: key, trust: trust, app: NotesStore.app, software: "kith/\(KithCommand.version)")
    }
}

/// What was carried out, as JSON.
struct CarriedOutRecord: Encodable {
    let path: String
    let rows: UInt64
    let attachments: Int
    let bytes: Int64
    let isWhole: Bool
    let device: String?
    let withheld: [String]?
    let rowsTakenBack: UInt64
    let kept: [String]?

    init(_ written: Carrier.Written, for device: String?) {
        (path, rows, attachments) = (written.path, written.rows, written.attachments)
        (bytes, isWhole, self.device) = (written.bytes, written.isWhole, device)
        withheld = written.withheld.isEmpty ? nil : written.withheld
        (rowsTakenBack, kept) = (written.rowsTakenBack, written.kept.isEmpty ? nil : written.kept)
    }
}

extension Carrier.Written {
    /// Which rows are not in the file, and what can be done; `nil` if all are.
    var wordsOnWithheld: String? {
        if withheld.isEmpty { return nil }
        return "Left out: "
            + NodeStatus.Peer.sentence(onTooLarge: withheld, to: "be carried", others: "all other rows are in the file")
    }
}

/// A file that was carried in, as JSON.
struct CarriedInRecord: Encodable {
    let path: String
    let outcome: String
    let device: String?
    let rows: UInt64
    let attachments: Int
    let message: String

    init(_ reading: Carrier.Reading) {
        (path, outcome, device) = (reading.path, reading.outcome.rawValue, reading.writer)
        (rows, attachments, message) = (reading.rows, reading.attachments, reading.message)
    }
}
