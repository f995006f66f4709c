import Foundation
import KithNotes
import Synchronization
import Testing

@testable import KithFiles

/// Where a pass is killed.
private struct Killed: Error {}

@Suite("Folders on two machines, written by everybody and killed at any point, lose something or stay apart")
struct FolderHistoryTests {
    /// How many operations; `make soak` has many more.
    private static let operations = ProcessInfo.processInfo.environment["KITH_SOAK"] == nil ? 150 : 10_000

    @Test("nothing that was written is lost, and all four sides are equal at the end", arguments: [1, 2, 3, 4] as [UInt64])
    func history(seed: UInt64) throws {
        let place = try TemporaryFolder()
        var random = SplitMix64(seed: ProcessInfo.processInfo.environment["KITH_SEED"].flatMap(UInt64.init) ?? seed)
        let machines = [try FolderMachine(place, "a"), try FolderMachine(place, "b")]
        // Two machines that bring one note back at once have its text twice; where nothing is deleted, nothing may stand twice.
        let deletes = seed % 2 == 0
        var words: Set<String> = []
        var number = 0
        func word() -> String {
            number += 1
            return "word\(number)w"
        }
        for _ in 0..<Self.operations {
            let machine = machines[Int.random(in: 0...1, using: &random)]
            try step(machine, machines, deletes, &words, word, &random)
        }
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
        let alive = try machines[0].notes.list().map(\.body)
        let trash = try machines.flatMap { try $0.notes.trash().map(\.note.body) }
        let all = (alive + trash).joined(separator: "\n")
        let lost = words.filter { !all.contains($0) }
        #expect(lost.isEmpty, "lost: \(lost.sorted())")
        // And nothing stands twice in one note.
        for body in alive {
            for word in words where !deletes && body.components(separatedBy: word).count > 2 {
                Issue.record("\(word) stands twice: \(body)")
            }
        }
    }

    private func step(
        _ machine: FolderMachine, _ machines: [FolderMachine], _ deletes: Bool, _ words: inout Set<String>, _ word: () -> String,
        _ random: inout SplitMix64
    ) throws {
        let files = try machine.files()
        let notes = try machine.notes.list()
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<8:
            let text = word()
            words.insert(text)
            try machine.save(
                text + "\n", as: "\(["Note", "note", "Plan \(text)"].randomElement(using: &random) ?? "x").md".avoiding(files),
                with: .rename)
        case 8..<30:
            guard let name = files.randomElement(using: &random) else { return }
            let text = word()
            words.insert(text)
            try machine.save(
                inserting(text, into: try machine.read(name), &random), as: name,
                with: FolderMachine.Editor.allCases.randomElement(using: &random) ?? .rename)
        case 30..<45:
            guard let note = notes.randomElement(using: &random) else { return }
            let text = word()
            words.insert(text)
            let body = note.body + text + "\n"
            try machine.notes.edit(note.id) { $0.body = Bool.random(using: &random) ? body : text + "\n" + note.body }
        case 45..<50:
            guard let name = files.randomElement(using: &random) else { return }
            let new = "Renamed \(Int.random(in: 0..<20, using: &random)).md"
            if !files.contains(new) { rename(machine.path(name), machine.path(new)) }
        case 50..<54:
            guard let note = notes.randomElement(using: &random) else { return }
            try machine.notes.edit(note.id) {
                $0.title = ["Note", "a/b", "Title \(Int.random(in: 0..<9, using: &random))"].randomElement(using: &random) ?? ""
            }
        case 54..<57:
            guard let note = notes.randomElement(using: &random), deletes, notes.count > 3 else { return }
            try machine.notes.delete([note.id])
        case 57..<59 where deletes:
            try deleteFile(machine, files, &random)
        case 59..<62:
            guard let note = notes.randomElement(using: &random) else { return }
            try machine.notes.edit(note.id) { $0.tags.insert("t\(Int.random(in: 0..<5, using: &random))") }
        case 62..<80: try sync(machine, &words, word, &random)
        default:
            let other = machines[0] === machine ? machines[1] : machines[0]
            try machine.pull(other)
        }
    }

    /// A file that the notes know in full, so that what it says is in the trash afterwards.
    private func deleteFile(_ machine: FolderMachine, _ files: [String], _ random: inout SplitMix64) throws {
        guard files.count > 6 else { return }
        machine.options.step = { _ in }
        machine.options.beforeExchange = { _ in }
        try machine.sync()
        if let name = try machine.files().randomElement(using: &random) { unlink(machine.path(name)) }
    }

    /// A pass that is killed sometimes, and into which somebody saves at times.
    private func sync(_ machine: FolderMachine, _ words: inout Set<String>, _ word: () -> String, _ random: inout SplitMix64) throws {
        let left = Mutex(Bool.random(using: &random) ? Int.random(in: 0..<12, using: &random) : Int.max)
        machine.options.step = { _ in
            try left.withLock { left in
                left -= 1
                if left < 0 { throw Killed() }
            }
        }
        let text = word()
        let saved = Mutex(false)
        let isSaving = Int.random(in: 0..<3, using: &random) == 0
        machine.options.beforeExchange = { path in
            guard isSaving, !saved.withLock({ $0 }), let old = try? String(contentsOf: URL(filePath: path), encoding: .utf8) else { return }
            try? Data((old + text + "\n").utf8).write(to: URL(filePath: path))
            saved.withLock { $0 = true }
        }
        do { try machine.sync() } catch is Killed {}
        if saved.withLock({ $0 }) { words.insert(text) }
    }

    /// After some line of the body.
    private func inserting(_ word: String, into text: String, _ random: inout SplitMix64) -> String {
        guard let end = text.range(of: "\n---\n"), text.hasPrefix("---\n") else { return text + word + "\n" }
        var lines = text[end.upperBound...].components(separatedBy: "\n")
        lines.insert(word, at: Int.random(in: 0...max(0, lines.count - 1), using: &random))
        return text[..<end.upperBound] + lines.joined(separator: "\n")
    }
}

extension String {
    /// Itself, or another name if it is one of these.
    fileprivate func avoiding(_ names: [String]) -> String {
        var name = self
        while names.contains(where: { $0.lowercased() == name.lowercased() }) { name = "x" + name }
        return name
    }
}
