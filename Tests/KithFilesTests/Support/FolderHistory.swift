import Foundation
import KithNotes
import Synchronization
import TestSupport
import Testing

@testable import KithFiles

/// Where a pass is killed.
struct Killed: Error {}

/// Two machines, each with notes and a folder, on which everybody writes at random. All of it follows from the seed: two histories of
/// one seed are the same, byte for byte.
final class FolderHistory {
    let machines: [FolderMachine]
    private let place: TemporaryFolder
    /// Everything that anybody wrote.
    private(set) var words: Set<String> = []
    /// Two machines that bring one note back at once have its text twice; where nothing is deleted, nothing may stand twice.
    let deletes: Bool
    private let clock = HandClock()
    private var random: SplitMix64
    private var number = 0

    init(seed: UInt64) throws {
        let place = try TemporaryFolder()
        self.place = place
        random = SplitMix64(seed: seed)
        deletes = seed % 2 == 0
        let clock = clock
        machines = try ["a", "b"].enumerated().map { index, name in
            try FolderMachine(place, name, clock: clock, seed: seed &* 2 &+ UInt64(index))
        }
    }

    private func word() -> String {
        number += 1
        return "word\(number)w"
    }

    private func written() -> String {
        let word = word()
        words.insert(word)
        return word
    }

    /// Somebody does something.
    func step() throws {
        clock.advance(Int64(random.below(250)))
        let machine = random.pick(machines)
        try act(machine)
        if Self.isTraced { trace(machine) }
    }

    private func act(_ machine: FolderMachine) throws {
        switch random.below(100) {
        case 0..<8: try make(machine)
        case 8..<30: try save(machine)
        case 30..<62: try edit(machine)
        case 62..<66: try rename(machine)
        case 66..<68 where deletes: try deleteFile(machine)
        case 68..<86: try pass(machine)
        default: try machine.pull(machines[machines[0] === machine ? 1 : 0])
        }
    }

    private static let isTraced = ProcessInfo.processInfo.environment["KITH_TRACE"] != nil

    /// Prints who did something, and what is everywhere then.
    private func trace(_ machine: FolderMachine) {
        print("\(number) \(machine.folder.path.suffix(8)) at \(clock.milliseconds)")
        for line in (try? everything()) ?? [] { print("   ", line.debugDescription) }
    }

    /// Until nothing is left to do.
    func settle() throws {
        for machine in machines {
            machine.options.step = { _ in }
            machine.options.beforeExchange = { _ in }
            machine.options.deletesMany = true
        }
        for _ in 0..<6 {
            for machine in machines { try machine.sync() }
            try machines[0].pull(machines[1])
            try machines[1].pull(machines[0])
        }
    }

    // MARK: Files

    private func make(_ machine: FolderMachine) throws {
        let text = written()
        var name = random.pick(["Note", "note", "Plan \(text)"])
        let files = try machine.files().map { $0.lowercased() }
        while files.contains("\(name).md".lowercased()) { name = "x" + name }
        try machine.save(text + "\n", as: "\(name).md", with: .rename)
    }

    private func save(_ machine: FolderMachine) throws {
        guard let name = try pick(machine.files()) else { return }
        try machine.save(inserting(written(), into: machine.read(name)), as: name, with: random.pick(FolderMachine.Editor.allCases))
    }

    private func rename(_ machine: FolderMachine) throws {
        let files = try machine.files()
        let new = "Renamed \(random.below(20)).md"
        guard let name = pick(files), !files.contains(new) else { return }
        Foundation.rename(machine.path(name), machine.path(new))
    }

    /// A file that the notes know in full, so that what it says is in the trash afterwards.
    private func deleteFile(_ machine: FolderMachine) throws {
        guard try machine.files().count > 6 else { return }
        machine.options.step = { _ in }
        machine.options.beforeExchange = { _ in }
        try machine.sync()
        if let name = try pick(machine.files()) { unlink(machine.path(name)) }
    }

    // MARK: Notes

    private func edit(_ machine: FolderMachine) throws {
        let notes = try machine.notes.list().sorted { $0.id.uuidString < $1.id.uuidString }
        guard let note = pick(notes) else { return }
        switch random.below(10) {
        case 0: try machine.notes.edit(note.id) { $0.title = random.pick(["Note", "a/b", "Title \(random.below(9))"]) }
        case 1: try machine.notes.edit(note.id) { $0.tags.insert("t\(random.below(5))") }
        case 2 where deletes && notes.count > 3: try machine.notes.delete([note.id])
        default:
            let word = written()
            try machine.notes.edit(note.id) { $0.body = random.chance(50) ? $0.body + word + "\n" : word + "\n" + $0.body }
        }
    }

    // MARK: Keeping in step

    /// A pass that is killed sometimes, and into which somebody saves at times.
    private func pass(_ machine: FolderMachine) throws {
        let left = Mutex(random.chance(50) ? random.below(12) : Int.max)
        machine.options.step = { _ in
            try left.withLock { left in
                left -= 1
                if left < 0 { throw Killed() }
            }
        }
        let text = word()
        let hasSaved = Mutex(!random.chance(33))
        let isToSave = hasSaved.withLock { !$0 }
        let clock = clock
        machine.options.beforeExchange = { path in
            guard !hasSaved.withLock({ $0 }), let old = try? String(contentsOf: URL(filePath: path), encoding: .utf8) else { return }
            try? Data((old + text + "\n").utf8).write(to: URL(filePath: path))
            clock.stamp(path)
            hasSaved.withLock { $0 = true }
        }
        do { try machine.pass() } catch is Killed {}
        if isToSave, hasSaved.withLock({ $0 }) { words.insert(text) }
    }

    // MARK: Chance

    private func pick<Choice>(_ choices: [Choice]) -> Choice? { choices.isEmpty ? nil : random.pick(choices) }

    /// After some line of the body.
    private func inserting(_ word: String, into text: String) -> String {
        guard let end = text.range(of: "\n---\n"), text.hasPrefix("---\n") else { return text + word + "\n" }
        var lines = text[end.upperBound...].components(separatedBy: "\n")
        lines.insert(word, at: random.below(max(1, lines.count)))
        return text[..<end.upperBound] + lines.joined(separator: "\n")
    }
}

// MARK: What must be true at the end

extension FolderHistory {
    /// All four sides are equal, and nothing is left to do.
    func checkEquality() throws {
        let contents = try machines.map { try $0.noteContents() }
        #expect(contents[0] == contents[1])
        for machine in machines {
            let report = try machine.sync()
            #expect(report.isQuiet && report.left.isEmpty, "\(report)")
            #expect(try machine.contents() == machine.noteContents())
            let leftovers = try FileManager.default.contentsOfDirectory(atPath: machine.folder.path).filter {
                $0.hasPrefix(NotesFolder.temporaryPrefix)
            }
            #expect(leftovers.isEmpty)
        }
    }

    /// Everything that was written is in a note or in the trash, and stands there once.
    func checkWords() throws {
        let alive = try machines[0].notes.list().map(\.body)
        let trash = try machines.flatMap { try $0.notes.trash().map(\.note.body) }
        let lost = words.subtracting(Self.words(in: alive + trash).keys)
        #expect(lost.isEmpty, "lost: \(lost.sorted())")
        if deletes { return }
        for (word, count) in Self.words(in: alive) where count > 1 { Issue.record("\(word) stands \(count) times") }
    }

    private static func words(in texts: [String]) -> [String: Int] {
        var counts: [String: Int] = [:]
        for text in texts {
            for word in text.split(whereSeparator: { !$0.isLetter && !$0.isNumber }) { counts[String(word), default: 0] += 1 }
        }
        return counts
    }

    /// All files and notes, to compare histories of one seed.
    func everything() throws -> [String] {
        try machines.flatMap { machine in
            try machine.files().map { "\($0) \(try machine.read($0))" } + machine.notes.list().map { "\($0)" }
        }
    }
}
