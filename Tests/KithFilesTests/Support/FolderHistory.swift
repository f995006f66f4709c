import Foundation
import GRDB
import KithNotes
import KithStore
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
    /// Whether people attach pictures.
    private let attaches: Bool
    private let clock = HandClock()
    private var random: SplitMix64
    private var number = 0
    /// Names of files that were deleted.
    private var deleted: Set<String> = []
    /// Editors that have a file open, and do not read it again; `nil` if there are none.
    private var open: [OpenFile]?

    private struct OpenFile {
        let path: String
        let note: UUID
        var text: String
    }

    /// - Parameter opensLong: whether there are editors that have a file open for long. Then no pass is killed: who has read a file is known to
    ///   the process that has watched it alone.
    init(seed: UInt64, opensLong: Bool = false, attaches: Bool = false) throws {
        let place = try TemporaryFolder()
        self.place = place
        random = SplitMix64(seed: seed)
        deletes = seed % 2 == 0
        self.attaches = attaches
        let clock = clock
        machines = try ["a", "b"].enumerated().map { index, name in
            try FolderMachine(
                place, name, clock: clock, seed: seed &* 2 &+ UInt64(index), tagsFolders: index == 0 && seed % 3 == 0)
        }
        if opensLong {
            open = []
            for machine in machines { try machine.watchReaders() }
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
        // Nobody takes five seconds to write a file.
        for machine in machines where random.chance(30) || machine.writers.paths.count > 3 { finish(machine, 1) }
        // A note that was deleted and came back has another file, which says what Kith knows. Until then its file may be there still; a save
        // takes back there what others added (docs/files.md, "An editor that has a file open for long").
        try open?.removeAll { try isDeleted($0) || !FileManager.default.fileExists(atPath: $0.path) && !hasFormerName($0) }
        if open != nil, random.chance(25) { return try random.chance(20) ? saveFormer(machine) : editLong(machine) }
        if attaches, random.chance(15) { return try attach(machine) }
        switch random.below(100) {
        case 0..<8: try make(machine)
        case 8..<26: try save(machine)
        case 26..<31: try beginSave(machine)
        case 31..<62: try edit(machine)
        case 62..<66: try rename(machine)
        case 66..<68 where deletes: try deleteFile(machine)
        case 68..<86: try pass(machine)
        default: try pull(machine)
        }
    }

    private func pull(_ machine: FolderMachine) throws {
        let other = machines[machines[0] === machine ? 1 : 0]
        try machine.pull(other)
        if !attaches { return }
        try machine.notes.bringBackAttachments()
        try machine.fetch(other)
    }

    private static let isTraced = ProcessInfo.processInfo.environment["KITH_TRACE"] != nil

    /// Prints who did something, and what is everywhere then; of files that editors have open for long not what they say, which would be
    /// reading them.
    private func trace(_ machine: FolderMachine) {
        print("\(number) \(machine.folder.path.suffix(8)) at \(clock.milliseconds)")
        for line in (try? open == nil ? everything() : machines.flatMap { try $0.notes.list().map { "\($0)" } }) ?? [] {
            print("   ", line.debugDescription)
        }
        for machine in attaches ? machines : [] {
            for note in (try? machine.notes.list()) ?? [] {
                print("    \(machine.folder.path.suffix(8)) \(note.id):", (try? machine.notes.attachments(of: note.id).map(\.name)) ?? [])
            }
        }
        for file in open ?? [] { print("    open:", file.path, file.text.debugDescription) }
    }

    /// Until nothing is left to do.
    func settle() throws {
        for machine in machines {
            finish(machine)
            quieten(machine)
            machine.options.deletesMany = true
        }
        for _ in 0..<6 {
            for machine in machines { try machine.sync() }
            for machine in machines { try pull(machine) }
        }
    }

    // MARK: Files

    private func make(_ machine: FolderMachine) throws {
        let text = written()
        var name = random.pick(["Note", "note", "Plan \(text)"])
        let files = try machine.files().map { $0.lowercased() } + deleted
        // Names that differ little, until there are many.
        while files.contains("\(name).md".lowercased()) { name = name.utf8.count < 40 ? "x" + name : "Plan \(text)" }
        try machine.save(text + "\n", as: "\(name).md", with: .rename)
    }

    /// The files that nobody is writing.
    private func idleFiles(_ machine: FolderMachine) throws -> [String] {
        let busy = machine.writers.paths
        return try machine.files().filter { !busy.contains(machine.path($0)) }
    }

    private func save(_ machine: FolderMachine) throws {
        guard let name = try pick(idleFiles(machine)) else { return }
        try close(name, machine)
        try machine.save(inserting(written(), into: machine.read(name)), as: name, with: random.pick(FolderMachine.Editor.allCases))
    }

    /// A picture is put among the attachments, and a file links to it.
    private func attach(_ machine: FolderMachine) throws {
        guard let name = try pick(idleFiles(machine)) else { return }
        let picture = "p\(random.below(4)).png"
        if !FileManager.default.fileExists(atPath: machine.path("attachments/\(picture)")) {
            try machine.save(picture, as: "attachments/\(picture)")
        }
        let link = random.pick(["![](\(RelativePath.outward(from: name))attachments/\(picture))", "![[\(picture)]]"])
        try machine.save(inserting(written() + " " + link, into: machine.read(name)), as: name)
    }

    /// A program that opens a file and takes its time.
    private func beginSave(_ machine: FolderMachine) throws {
        guard let name = try pick(idleFiles(machine)) else { return }
        try close(name, machine)
        let text = try inserting(written(), into: machine.read(name))
        machine.writers.begin(machine.path(name), text, empties: random.chance(50), clock)
        machine.tell(name)
    }

    /// An editor opens a file, or saves what it has open.
    private func editLong(_ machine: FolderMachine) throws {
        guard let name = try pick(idleFiles(machine)) else { return }
        let note = try machine.note(at: name)
        if let index = open?.firstIndex(where: { $0.path == machine.path(name) && $0.note == note }), random.chance(75) {
            let text = inserting(written(), into: open?[index].text ?? "")
            try machine.save(text, as: name, with: random.pick(FolderMachine.Editor.allCases))
            open?[index].text = text
        } else {
            try close(name, machine)
            let text = try machine.read(name)
            if let note, text.hasPrefix("---\nid: ") { open?.append(OpenFile(path: machine.path(name), note: note, text: text)) }
        }
    }

    /// An editor saves what it has open under the name that Kith took away. Nobody else writes the file at the same time: then they are two.
    private func saveFormer(_ machine: FolderMachine) throws {
        finish(machine)
        quieten(machine)
        try machine.sync()
        let index = open?.firstIndex { !FileManager.default.fileExists(atPath: $0.path) && $0.path.hasPrefix(machine.folder.path + "/") }
        guard let index, var file = open?[index] else { return }
        file.text = inserting(written(), into: file.text)
        open?[index] = file
        try machine.save(file.text, as: name(of: file, machine), with: random.pick(FolderMachine.Editor.allCases))
        try machine.sync()
    }

    /// Whether Kith has taken away the name of a file that an editor has open.
    private func hasFormerName(_ file: OpenFile) throws -> Bool {
        guard let machine = machines.first(where: { file.path.hasPrefix($0.folder.path + "/") }) else { return false }
        let (tables, now, path) = (FolderTables(folder: machine.folder.number), clock.milliseconds, name(of: file, machine))
        return try machine.notes.store.database.read { db in
            try tables.record(of: file.note, db).flatMap { try tables.former(of: $0, at: path, now, db) } != nil
        }
    }

    private func isDeleted(_ file: OpenFile) throws -> Bool {
        let machine = machines.first { file.path.hasPrefix($0.folder.path + "/") }
        return try machine.map { try $0.notes.note(file.note) == nil } ?? false
    }

    private func name(of file: OpenFile, _ machine: FolderMachine) -> String { String(file.path.dropFirst(machine.folder.path.count + 1)) }

    /// Another program reads the file, or makes another one, and so Kith cannot know any more what an editor has.
    private func close(_ name: String, _ machine: FolderMachine) throws {
        if open == nil { return }
        let (note, path) = (try machine.note(at: name), machine.path(name))
        open?.removeAll { $0.path == path || $0.note == note && $0.path.hasPrefix(machine.folder.path + "/") }
    }

    private func closeAll(_ machine: FolderMachine) { open?.removeAll { $0.path.hasPrefix(machine.folder.path + "/") } }

    private func finish(_ machine: FolderMachine, _ count: Int = .max) {
        for path in machine.writers.finish(count, clock) { machine.tell(String(path.dropFirst(machine.folder.path.count + 1))) }
    }

    private func rename(_ machine: FolderMachine) throws {
        let new = random.pick(["Renamed \(random.below(20)).md", "sub/Moved \(random.below(5)).md"])
        guard let name = try pick(idleFiles(machine)), try !machine.files().contains(new), !deleted.contains(new.lowercased()) else {
            return
        }
        // A file that is renamed and written before it has an id is another note.
        if try !deletes && !machine.read(name).hasPrefix("---\nid: ") { return }
        // Who moves a file has Kith look at its links before.
        if attaches {
            finish(machine)
            quieten(machine)
            try machine.sync()
            guard FileManager.default.fileExists(atPath: machine.path(name)), !FileManager.default.fileExists(atPath: machine.path(new))
            else { return }
        }
        try close(name, machine)
        try machine.move(name, to: new)
    }

    /// A file that the notes know in full, so that what it says is in the trash afterwards. Nobody gives its name to another one, which
    /// would be the same note, written anew.
    private func deleteFile(_ machine: FolderMachine) throws {
        guard try machine.files().count > 6 else { return }
        closeAll(machine)
        finish(machine)
        quieten(machine)
        try machine.sync()
        guard let name = try pick(machine.files()) else { return }
        deleted.insert(name.lowercased())
        machine.remove(name)
    }

    private func quieten(_ machine: FolderMachine) {
        machine.options.step = { _ in }
        machine.options.beforeExchange = { _ in }
    }

    // MARK: Notes

    private func edit(_ machine: FolderMachine) throws {
        let notes = try machine.notes.list().sorted { $0.id.uuidString < $1.id.uuidString }
        guard let note = pick(notes) else { return }
        switch random.below(10) {
        case 0: try machine.notes.edit(note.id) { $0.title = random.pick(["Note", "a/b", "Title \(random.below(9))"]) }
        case 1: try machine.notes.edit(note.id) { $0.tags.insert("t\(random.below(5))") }
        case 2 where note.tags.contains("sub"): try machine.notes.edit(note.id) { $0.tags.remove("sub") }
        case 2 where deletes && notes.count > 3: try machine.notes.delete([note.id])
        default:
            let word = written()
            try machine.notes.edit(note.id) { $0.body = random.chance(50) ? $0.body + word + "\n" : word + "\n" + $0.body }
        }
    }

    // MARK: Keeping in step

    /// A pass that is killed sometimes, and into which somebody saves at times.
    private func pass(_ machine: FolderMachine) throws {
        let left = Mutex(open == nil && random.chance(50) ? random.below(12) : Int.max)
        machine.options.step = { _ in
            try left.withLock { left in
                left -= 1
                if left < 0 { throw Killed() }
            }
        }
        let text = word()
        let hasSaved = Mutex(!random.chance(33))
        let saved = Mutex<String?>(nil)
        let (clock, writers, isSlow) = (clock, machine.writers, random.chance(50))
        machine.options.beforeExchange = { path in
            guard !hasSaved.withLock({ $0 }), let old = try? String(contentsOf: URL(filePath: path), encoding: .utf8) else { return }
            if isSlow {
                writers.begin(path, old + text + "\n", empties: true, clock)
            } else {
                try? Data((old + text + "\n").utf8).write(to: URL(filePath: path))
                clock.stamp(path)
            }
            hasSaved.withLock { $0 = true }
            saved.withLock { $0 = path }
        }
        do { try machine.pass(ofEverything: random.chance(30)) } catch is Killed {}
        if let path = saved.withLock({ $0 }) {
            words.insert(text)
            let name = String(path.dropFirst(machine.folder.path.count + 1))
            try close(name, machine)
            machine.tell(name)
        }
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
            #expect(try machine.folder.state(in: machine.notes).behind == 0)
            #expect(try machine.contents() == machine.noteContents())
            let leftovers = try FileManager.default.contentsOfDirectory(atPath: machine.folder.path).filter {
                $0.hasPrefix(NotesFolder.temporaryPrefix)
            }
            #expect(leftovers.isEmpty)
        }
    }

    /// Each picture that a text has is one of its note, and the link in the file leads to it.
    func checkPictures() throws {
        for machine in machines {
            for name in try machine.files() {
                let note = try #require(try machine.note(at: name))
                let attached = Set(try machine.notes.attachments(of: note).map(\.name))
                for link in MarkdownLinks.links(in: try machine.read(name)).compactMap(\.first) where link.path.hasSuffix(".png") {
                    let picture = RelativePath.name(of: link.path)
                    #expect(attached.contains(picture), "\(name): \(link)")
                    // If Kith moves a file, a program may have just written a link from where the file was.
                    if link.isWiki || machines.contains(where: \.folder.tagsFolders) { continue }
                    let path = RelativePath.resolved(link.path, in: RelativePath.folder(of: name))
                    #expect(path.map { (try? machine.read($0)) == picture } == true, "\(name): \(link)")
                }
            }
        }
    }

    /// Everything that was written is in a note or in the trash, and stands there once.
    func checkWords() throws {
        let alive = try machines[0].notes.list().map(\.body)
        let trash = try machines.flatMap { try $0.notes.trash().map(\.note.body) }
        let all = (alive + trash).joined(separator: "\n")
        let lost = words.filter { !all.contains($0) }
        #expect(lost.isEmpty, "lost: \(lost.sorted())")
        if deletes { return }
        let shown = alive.joined(separator: "\n")
        let twice = words.filter { shown.components(separatedBy: $0).count > 2 }
        #expect(twice.isEmpty, "twice: \(twice.sorted())")
    }

    /// All files and notes, to compare histories of one seed.
    func everything() throws -> [String] {
        try machines.flatMap { machine in
            try machine.files().map { "\($0) \(try machine.read($0))" } + machine.notes.list().map { "\($0)" }
        }
    }
}
