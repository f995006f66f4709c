import Foundation
import GRDB
import KithSQLite
import KithStore
import TestSupport
import Testing

@Suite("One database is taken for several stores because it has several names")
struct DatabaseNameTests {
    private let folder: TemporaryFolder
    private let path: String
    /// A symbolic link to the database, in another folder.
    private let link: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.sqlite")
        link = folder.file("links/notes.sqlite")
        try FileManager.default.createDirectory(atPath: folder.file("links"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../a.sqlite")
    }

    private func open(_ path: String) throws -> SyncedDatabase {
        let database = try DatabasePool(path: path)
        try database.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS note (id BLOB PRIMARY KEY NOT NULL, title TEXT)") }
        return try SyncedDatabase(database, tables: [TrackedTable("note")])
    }

    private func filesBesideLink() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.file("links")) }

    @Test func `who opens a store by a symbolic link has its id, its attachments and its lock`() throws {
        let store = try open(path)
        let (replica, id) = (try store.summary().replica, try store.attach(Array("content".utf8)))
        let lock = try store.takeNodeLock()
        let other = try open(link)
        #expect(try other.summary().replica == replica)
        #expect(SyncedDatabase.isSynchronized(at: link))
        #expect(throws: StoreError.self) { try other.takeNodeLock() }
        #expect(try AttachmentTests.bytes(other, id) == Array("content".utf8))
        var options = SyncedDatabase.Options()
        options.copy = SyncedDatabase.Options.Copy(of: link, because: "The disk is full.")
        let inMemory = try SyncedDatabase.copyInMemory(ofDatabaseAt: link)
        let copy = try SyncedDatabase(inMemory, tables: [TrackedTable("note")], options: options)
        #expect(try AttachmentTests.bytes(copy, id) == Array("content".utf8))
        lock.release()
        store.close()
        other.close()
        for name in [link, path] {
            let again = try open(name)
            #expect(try again.summary().replica == replica)
            again.close()
        }
        #expect(try filesBesideLink() == ["notes.sqlite"])
    }

    @Test func `a store that is first opened by a link that leads nowhere yet lies where the link leads`() throws {
        let store = try open(link)
        let replica = try store.summary().replica
        store.close()
        #expect(try open(path).summary().replica == replica)
        #expect(try filesBesideLink() == ["notes.sqlite"])
    }

    @Test func `a store that is gone is missed, and a damaged one set aside, by the name of a link`() throws {
        let store = try open(link)
        try store.database.write { try $0.execute(sql: "INSERT INTO note VALUES (randomblob(16), 'a')") }
        store.close()
        #expect(try SyncedDatabase.setAside(at: link, ending: ".before").contains(path + ".before"))
        #expect(SyncedDatabase.loss(at: link) == .missing && SyncedDatabase.loss(at: path) == .missing)
        #expect(SyncedDatabase.wasStore(at: URL(filePath: link)))
    }

    @Test func `a name is made whole when the database is opened, whether its file is there or not`() throws {
        let here = FileManager.default.currentDirectoryPath
        #expect(DatabaseFile.path(of: "Package.swift") == "\(here)/Package.swift")
        for name in ["none.sqlite", "./none.sqlite", "Sources/../none.sqlite"] {
            #expect(DatabaseFile.path(of: name) == "\(here)/none.sqlite")
        }
        #expect(DatabaseFile.path(of: "/none.sqlite") == "/none.sqlite")
        for name in ["", "/", "no folder/none.sqlite", folder.file("no folder/none.sqlite")] {
            #expect(DatabaseFile.path(of: name) == name)
        }
        // A link in a circle leads nowhere.
        try FileManager.default.createSymbolicLink(atPath: folder.file("circle"), withDestinationPath: "circle")
        #expect(DatabaseFile.path(of: folder.file("circle")).hasSuffix("/circle"))
    }
}
