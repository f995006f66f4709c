import Foundation
import KithNotes
import Testing

@testable import KithFiles

// Swift takes what the C library declares of files for a part of a module that reads its headers first, and asks for that one by name.
#if canImport(CoreFoundation)
import CoreFoundation
#endif

@Suite("Files that are only hidden count as deleted")
struct HiddenFileTests {
    private let machine: FolderMachine
    private let place: TemporaryFolder
    private let hidden: Note

    /// One note in a folder, another one beside it.
    init() throws {
        place = try TemporaryFolder()
        machine = try FolderMachine(place, "a")
        try machine.save("hidden", as: "sub/deep/Hidden.md")
        try machine.notes.add(title: "Seen", body: "seen")
        machine.clock.advance(1_000)
        try machine.pass()
        machine.clock.advance(1_000)
        try machine.sync()
        try machine.pass()
        hidden = try #require(try machine.notes.titled("Hidden"))
    }

    private var notes: NotesStore { machine.notes }

    /// Looks at everything, then at what is told, again and again.
    private func expectKept(
        _ words: String, at path: String = "sub", as user: (() throws -> Void) throws -> Void = { try $0() }
    ) throws {
        try notes.edit(hidden.id) { $0.body += " and edited" }
        try machine.save("new", as: "New.md")
        machine.clock.advance(1_000)
        try user {
            let report = try machine.sync()
            #expect(report.added == 1 && report.deleted == 0 && report.held == 0, "\(report)")
            #expect(report.left.map(\.path) == [path] && report.left.first?.words.contains(words) == true, "\(report)")
            for _ in 0..<3 {
                machine.tell("sub/deep/Hidden.md", "sub/deep/Other.md")
                machine.clock.advance(1_000)
                let report = try #require(try machine.pass())
                #expect(report.deleted == 0 && report.busy == 0 && report.left.map(\.path) == [path], "\(report)")
            }
        }
        #expect(try notes.list().count == 3 && notes.note(hidden.id)?.body == "hidden and edited")
        #expect(try machine.folder.state(in: notes).left.map(\.path) == [path])
    }

    private func expectBack() throws {
        machine.clock.advance(1_000)
        machine.tell("sub/deep/Hidden.md")
        #expect(try machine.pass()?.left.isEmpty == true)
        try machine.sync()
        #expect(try machine.read("sub/deep/Hidden.md").hasSuffix("hidden and edited"))
        #expect(try machine.contents() == machine.noteContents() && notes.list().count == 3)
    }

    @Test("a folder in the place of which there is a link, or a pipe")
    func link() throws {
        let away = place.path("away")
        #expect(rename(machine.path("sub"), away) == 0)
        symlink(away, machine.path("sub"))
        try expectKept("symbolic link")
        unlink(machine.path("sub"))
        #expect(rename(away, machine.path("sub")) == 0)
        try expectBack()
        #expect(rename(machine.path("sub"), away) == 0)
        mkfifo(machine.path("sub"), 0o600)
        machine.clock.advance(1_000)
        #expect(try machine.sync().deleted == 0 && notes.list().count == 3)
    }

    @Test("a folder that was moved, with a link to it in its place, takes its notes along")
    func moved() throws {
        #expect(rename(machine.path("sub"), machine.path("real")) == 0)
        symlink(machine.path("real"), machine.path("sub"))
        machine.clock.advance(1_000)
        let report = try machine.sync()
        #expect(report.added == 0 && report.deleted == 0 && report.left.map(\.path) == ["sub"], "\(report)")
        try notes.edit(hidden.id) { $0.body = "newer" }
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try machine.read("real/deep/Hidden.md").hasSuffix("newer") && notes.list().count == 2)
    }

    #if os(Linux)
    @Test("a folder that may not be read or entered", arguments: [0, 0o600, 0o300] as [mode_t])
    func unreadable(mode: mode_t) throws {
        try #require(Self.becomeOrdinary != nil)
        for path in try FileManager.default.subpathsOfDirectory(atPath: place.url.path) { lchown(place.path(path), 65_534, 65_534) }
        #expect(chmod(machine.path("sub"), mode) == 0)
        try expectKept("cannot be read (Permission denied)", as: Self.asOrdinaryUser)
        #expect(chmod(machine.path("sub"), 0o700) == 0)
        try expectBack()
        // The folder itself.
        #expect(chmod(machine.folder.path, 0) == 0)
        defer { chmod(machine.folder.path, 0o700) }
        #expect(throws: FilesError.self) { try Self.asOrdinaryUser { _ = try FolderWalk(machine.folder.path) { _ in false } } }
        #expect { try Self.asOrdinaryUser { try machine.sync() } } throws: { ($0 as? FilesError)?.code == .notFound }
    }

    @Test("a name that nothing is known of is not free")
    func free() throws {
        try #require(Self.becomeOrdinary != nil)
        for path in try FileManager.default.subpathsOfDirectory(atPath: place.url.path) { lchown(place.path(path), 65_534, 65_534) }
        #expect(chmod(machine.path("sub/deep"), 0o600) == 0)
        var pass = FolderPass(machine.folder, notes, machine.options, .everything, nil)
        try Self.asOrdinaryUser {
            #expect(ForeignFile.kind(machine.path("sub/deep/Hidden.md")) == .hidden("It cannot be looked at (Permission denied)."))
            #expect(ForeignFile.kind(machine.path("sub/None.md")) == .missing && ForeignFile.kind(machine.path("Seen.md/x")) == .missing)
            #expect(throws: FilesError.self) { try pass.freePath(for: "Title", in: "sub/deep") }
            let free = try pass.freePath(for: "Title", in: "sub")
            #expect(free == "sub/Title.md")
        }
    }

    /// Asks the system as a user for whom permissions matter, which they do not for root.
    private static func asOrdinaryUser(_ body: () throws -> Void) throws {
        guard geteuid() == 0 else { return try body() }
        _ = becomeOrdinary?(65_534)
        defer { _ = becomeOrdinary?(0) }
        try body()
    }

    /// `setfsuid`, for this thread alone.
    private static let becomeOrdinary: (@convention(c) (UInt32) -> Int32)? = dlsym(nil, "setfsuid").map {
        unsafeBitCast($0, to: (@convention(c) (UInt32) -> Int32).self)
    }

    @Test("a walk that stays on its disk passes over another one, and others do not")
    func disks() throws {
        let walk = try FolderWalk("/", staysOnDisk: true) { $0 != "proc" }
        #expect(walk.oddities == [FolderWalk.Oddity(path: "proc", words: FolderWalk.diskWords)] && walk.files.isEmpty)
        #expect(FolderWalk.oddity(above: "proc/self/stat", in: "/")?.path == "proc")
        #expect(FolderWalk.oddity(above: "self/stat", in: "/proc")?.words == FolderWalk.linkWords)
        #expect(FolderWalk.oddity(above: "sub/deep/None.md", in: machine.folder.path) == nil)
        #expect(try FolderWalk("/proc/sys") { $0 != "kernel" && $0 != "ostype" }.files.map(\.path) == ["kernel/ostype"])
    }

    @Test("a folder on which another disk is mounted", .enabled(if: canMount, "mount does not work here"))
    func mounted() throws {
        try #require(try Self.run("mount", "-t", "tmpfs", "none", machine.path("sub/deep")))
        defer { _ = try? Self.run("umount", machine.path("sub/deep")) }
        try expectKept("another disk", at: "sub/deep")
        #expect(try Self.run("umount", machine.path("sub/deep")))
        try expectBack()
    }

    private static let canMount: Bool = {
        guard let place = try? TemporaryFolder(), (try? run("mount", "-t", "tmpfs", "none", place.url.path)) == true else { return false }
        return (try? run("umount", place.url.path)) == true
    }()

    private static func run(_ command: String...) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
    #endif
}
