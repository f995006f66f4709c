import Foundation
import GRDB
import KithNotes
import KithStore
import TestSupport
import Testing

@Suite("A file that is not ours is opened or harmed")
struct ForeignFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `a file that is no database is refused and left as it is`() throws {
        let file = folder.url("notes.sqlite")
        let content = Data(String(repeating: "not a database. ", count: 512).utf8)
        try content.write(to: file)
        #expect(code { _ = try NotesStore.open(file) } == .notAStore)
        #expect(try Data(contentsOf: file) == content)
    }

    @Test func `the database of another program is refused and left without our tables`() throws {
        let file = folder.url("places.sqlite")
        do {
            let other = try DatabaseQueue(path: file.path)
            try other.write { try $0.execute(sql: "CREATE TABLE moz_places (id INTEGER PRIMARY KEY); INSERT INTO moz_places VALUES (1)") }
            try other.close()
        }
        #expect(code { _ = try NotesStore.open(file) } == .notAStore)
        let other = try DatabaseQueue(path: file.path)
        #expect(try other.read { try String.fetchAll($0, sql: "SELECT name FROM sqlite_master") } == ["moz_places"])
    }

    @Test func `notes of a newer version are refused and left as they are`() throws {
        let file = folder.url("notes.sqlite")
        do {
            let store = try NotesStore.open(file)
            try store.add(title: "Shopping")
            try store.store.database.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('kith-notes-99')") }
            try store.close()
        }
        let error = #expect(throws: NotesError.self) { try NotesStore.open(file) }
        #expect(error?.code == .notAStore)
        #expect(error?.message.contains("newer") == true)
    }

    @Test func `a truncated database is reported, not opened as if it were empty`() throws {
        let file = folder.url("notes.sqlite")
        do {
            var options = NotesStore.Options()
            options.readsWhileWriting = false
            let store = try NotesStore.open(file, options: options)
            for number in 1...200 { try store.add(title: "Note \(number)", body: String(repeating: "x", count: 500)) }
            try store.close()
        }
        let handle = try FileHandle(forUpdating: file)
        try handle.truncate(atOffset: 20_000)
        try handle.close()
        let failure = code {
            let store = try NotesStore.open(file)
            _ = try store.list()
        }
        #expect(failure == .corrupt)
    }

    @Test func `an emptied file is an alarm, and its write-ahead log is left to whoever can use it`() throws {
        let file = folder.url("notes.sqlite")
        let store = try NotesStore.open(file)
        try store.add(title: "Only here")
        let log = try Data(contentsOf: folder.url("notes.sqlite-wal"))
        try #require(!log.isEmpty)
        // As after a loss of power: closing would move the log into the file.
        let copy = try TemporaryFolder()
        for suffix in ["-wal", "-kith", "-kith-lock"] {
            try FileManager.default.copyItem(at: folder.url("notes.sqlite" + suffix), to: copy.url("notes.sqlite" + suffix))
        }
        try store.close()
        let emptied = copy.url("notes.sqlite")
        for isEmpty in [false, true] {
            if isEmpty { try Data().write(to: emptied) }
            #expect(NotesStore.loss(in: emptied) == (isEmpty ? .emptied : .missing))
            let error = #expect(throws: NotesError.self) { try NotesStore.open(emptied) }
            #expect(error?.code == .lost && error?.message.contains("kith recover") == true)
            #expect(try Data(contentsOf: copy.url("notes.sqlite-wal")) == log)
            #expect(FileManager.default.fileExists(atPath: emptied.path) == isEmpty)
        }
        var options = NotesStore.Options()
        options.refillsLostStore = true
        let new = try NotesStore.open(emptied, options: options)
        #expect(try new.list().isEmpty)
        try new.close()
    }

    @Test func `a folder in the place of the file, and a folder that cannot be made, are reported`() throws {
        #expect(code { _ = try NotesStore.open(folder.url) } == .cannotCreate)
        let file = folder.url("file")
        try Data("x".utf8).write(to: file)
        #expect(code { _ = try NotesStore.open(file.appending(path: "notes.sqlite")) } == .cannotCreate)
    }

    @Test func `only the owner can read the file and its new folder`() throws {
        let file = folder.url("new/deeper/notes.sqlite")
        let store = try NotesStore.open(file)
        try store.add(title: "Secret")
        func mode(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        }
        #expect(try mode(file) == 0o600)
        #expect(try mode(file.deletingLastPathComponent()) == 0o700)
        #expect(try mode(folder.url("new/deeper/notes.sqlite-wal")) == 0o600)
        try store.close()
    }

    @Test func `a store that only commands used is one whole file when they are done`() throws {
        let file = folder.url("data/notes.sqlite")
        var options = NotesStore.Options()
        options.readsWhileWriting = false
        let store = try NotesStore.open(file, options: options)
        try store.add(title: "Shopping")
        try store.close()
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url("data").path)
        #expect(!left.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") })
        #expect(try NotesStore.open(file).list().map(\.title) == ["Shopping"])
    }
}
