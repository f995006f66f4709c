import Foundation
import KithNotes
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite("Who opens notes for long, or hangs, keeps everybody else from theirs")
struct OpeningTurnTests {
    @Test(arguments: [0, 0.02, -1, .nan])
    func `notes open although somebody holds their folder for good`(busyTimeoutSeconds: Double) throws {
        let folder = try TemporaryFolder()
        let file = folder.url("notes.sqlite")
        let holder = open(file.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY)
        defer { close(holder) }
        try #require(flock(holder, LOCK_EX | LOCK_NB) == 0)
        var options = NotesStore.Options()
        options.busyTimeoutSeconds = busyTimeoutSeconds
        let store = try NotesStore.open(file, options: options)
        try store.add(title: "Shopping")
        try store.close()
        #expect(flock(holder, LOCK_EX | LOCK_NB) == 0)
    }
}
