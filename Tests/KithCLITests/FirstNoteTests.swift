import Foundation
import Kith
import KithCausality
import KithNotes
import KithStore
import KithSync
import Testing

@Suite("The first note is written under an id for which anybody could speak")
struct FirstNoteTests {
    @Test func `the first note's author names this device, and stays when the node starts`() async throws {
        let home = try KithHome()
        try home.kith("note", "add", "One")
        let before = try replica(home)
        #expect(before.isOfDevice)
        let node = try RunningNode(home, "--no-web")
        try await node.wait { $0.contains("Local only") }
        #expect(try await node.stop(SIGTERM) == 0)
        #expect(try replica(home) == before)
    }

    @Test func `where no key can be made, the note is written all the same`() throws {
        let home = try KithHome()
        try home.write("keys", Data("no folder".utf8))
        #expect(try home.kith("note", "add", "One").status == 0)
        #expect(try replica(home).isOfDevice == false)
    }

    private func replica(_ home: KithHome) throws -> ReplicaID {
        let notes = try NotesStore.open(home.store)
        defer { try? notes.close() }
        return try notes.store.summary().replica
    }
}
