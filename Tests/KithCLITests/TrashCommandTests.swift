import Foundation
import Kith
import KithCausality
import KithNotes
import KithTrust
import Testing

@Suite("A deleted note cannot be brought back, or goes without being asked for")
struct TrashCommandTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
    }

    @Test func `a deleted note is listed and comes back, by its title or its id, with everything in it`() throws {
        let ids = try ["One", "Two"].map { try home.kith("note", "add", $0, "--body", "text", "--tag", "x", "--color", "red").lastLine }
        #expect(try home.kith("trash", "list").output.isEmpty)
        try home.kith("note", "rm", "One", "Two")
        let listed = try home.kith("trash", "list").output
        #expect(listed.split(separator: "\n").count == 2)
        #expect(listed.contains("here"))
        let records = try home.kith("trash", "list", "--json").json() as? [[String: Any]]
        #expect(records?.count == 2)
        #expect(records?.allSatisfy { $0["isDeletedHere"] as? Bool == true && $0["end"] is String } == true)

        #expect(try home.kith("trash", "restore", "One", String(ids[1].suffix(8))).output.split(separator: "\n").count == 2)
        #expect(try home.kith("trash", "list").output.isEmpty)
        let shown = try home.kith("note", "show", "One", "--json").json() as? [String: Any]
        #expect(shown?["id"] as? String == ids[0])
        #expect(shown?["body"] as? String == "text")
        #expect(shown?["tags"] as? [String] == ["x"])
        #expect(shown?["color"] as? String == "red")
    }

    @Test func `what is not in the trash, or could be several notes, is reported and nothing is restored`() throws {
        try home.kith("note", "add", "Kept")
        expectFailure(try home.kith("trash", "restore", "Kept"), 66, "in the trash")
        let ids = try (0..<2).map { _ in try home.kith("note", "add", "Same").lastLine }
        try home.kith("note", "add", "Gone")
        for name in ids + ["Gone"] { try home.kith("note", "rm", name) }
        expectFailure(try home.kith("trash", "restore", "Same"), 65, String(ids[0].suffix(8)), String(ids[1].suffix(8)))
        expectFailure(try home.kith("trash", "restore", "Gone", "nope"), 66, "nope")
        #expect(try home.kith("note", "list").output.split(separator: "\n").count == 1)
        #expect(try home.shell("\"$KITH\" trash restore").status == 64)
    }

    @Test func `the trash is emptied only when that is meant`() throws {
        try home.kith("note", "add", "One")
        try home.kith("note", "rm", "One")
        #expect(try home.kith("trash", "restore", "--from", "this").output == "Restored 1 note.\n")
        try home.kith("note", "rm", "One")
        expectFailure(try home.kith("trash", "empty"), 64, "1 note", "--yes")
        #expect(try home.kith("trash", "list").output.contains("One"))
        #expect(try home.kith("trash", "empty", "--yes").output == "Gave up 1 note.\n")
        #expect(try home.kith("trash", "list").output.isEmpty)
        expectFailure(try home.kith("trash", "restore", "One"), 66)
        #expect(try home.kith("trash", "empty").status == 0)
    }

    @Test func `when another machine has deleted most notes, everything says so, and one command brings them back`() throws {
        let device = try home.deleteElsewhere()
        let name = device.shortDescription
        // Midnight may be between the deletion and the look.
        let day = try home.kith("status").output.contains(" notes yesterday.") ? "yesterday" : "today"
        let warning = "\(name) deleted 60 of 61 notes \(day). Bring them back: `kith trash restore --from \(name)`"
        #expect(try home.kith("status").output.contains(warning))
        let status = try home.kith("status", "--json").json() as? [String: Any]
        let deletions = status?["massDeletions"] as? [[String: Any]]
        #expect(deletions?.first?["device"] as? String == device.description)
        #expect(deletions?.first?["notes"] as? Int == 60)
        #expect(try home.kith("note", "list").error.contains(warning))
        let trash = try home.kith("trash", "list")
        #expect(trash.error.contains(warning))
        #expect(trash.output.split(separator: "\n").allSatisfy { $0.contains(" kept ") })
        expectFailure(try home.kith("trash", "restore", "--from", "nobody"), 66, "nobody")
        #expect(try home.kith("trash", "restore", "Note 1", "--from", name).status == 64)
        #expect(try home.kith("trash", "restore", "--from", name).output == "Restored 60 notes.\n")
        #expect(try home.kith("note", "list").output.split(separator: "\n").count == 61)
        #expect(try home.kith("status").output.contains("deleted") == false)
    }

    @Test func `nobody is warned of a large deletion that another machine has taken back`() throws {
        let device = try home.deleteElsewhere()
        let other = try NotesStore.open(home.folder.appending(path: "other-\(device.shortDescription)/notes.sqlite"))
        try other.restoreAll(deletedBy: [.own])
        let own = try NotesStore.open(home.store)
        _ = try own.store.apply(try other.store.delta(since: own.store.vector()), from: device.bytes)
        #expect(try own.massDeletions().isEmpty)
        try own.forgetMassDeletionsThatAreUndone()
        #expect(try own.store.massDeletions().isEmpty)
        try own.close()
        try other.close()
        #expect(try home.kith("status").output.contains("deleted") == false)
        #expect(try home.kith("trash", "accept").output == "Nothing waits to be accepted.\n")
    }

    @Test func `a large deletion that was meant is accepted`() throws {
        let name = try home.deleteElsewhere().shortDescription
        let accepted = try home.kith("trash", "accept").output
        #expect(["today", "yesterday"].contains { accepted == "Accepted: \(name) deleted 60 of 61 notes \($0).\n" }, "\(accepted)")
        #expect(try home.kith("status").output.contains("deleted") == false)
        #expect(try home.kith("trash", "list").output.contains("kept") == false)
        #expect(try home.kith("trash", "accept").output == "Nothing waits to be accepted.\n")
    }
}

extension KithHome {
    /// A machine of the household deletes 60 notes, which this one had besides one more. Returns its id.
    func deleteElsewhere() throws -> DeviceID {
        let device = DeviceKey().id
        try kith("note", "add", "Kept")
        let own = try NotesStore.open(store)
        let other = try NotesStore.open(folder.appending(path: "other-\(device.shortDescription)/notes.sqlite"))
        let notes = try (1...60).map { try own.add(title: "Note \($0)") }
        try other.store.pull(from: own.store)
        try own.store.setMembers([device.bytes])
        try own.store.noteMember(device.bytes, replica: try other.store.summary().replica, durable: VersionVector())
        try other.delete(notes.map(\.id))
        _ = try own.store.apply(try other.store.delta(since: own.store.vector()), from: device.bytes)
        try own.close()
        try other.close()
        return device
    }
}
