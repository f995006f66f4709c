import Foundation
import Testing

@testable import KithTesting

/// Risk: killed runs fill the memory with what they leave, or a run loses its disks to another one that tidies up.
@Suite struct ScratchFolderTests {
    @Test func `what a process left that is gone is taken away, and nothing else`() throws {
        let parent = FileManager.default.temporaryDirectory.appendingPathComponent("kith-scratch-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: parent) }
        let living = try ScratchFolder(in: parent)
        // A dead process holds no lock.
        let dead = parent.appendingPathComponent("kith-simulation-dead")
        let (unlocked, other) = (parent.appendingPathComponent("kith-simulation-of-another-kind"), parent.appendingPathComponent("other"))
        for folder in [dead, unlocked, other] {
            try FileManager.default.createDirectory(at: folder.appendingPathComponent("disk"), withIntermediateDirectories: true)
        }
        for folder in [dead, other] { try Data().write(to: folder.appendingPathComponent("lock")) }

        ScratchFolder.sweep(parent)

        #expect(FileManager.default.fileExists(atPath: living.url.path))
        #expect(!FileManager.default.fileExists(atPath: dead.path))
        #expect(FileManager.default.fileExists(atPath: unlocked.path))
        #expect(FileManager.default.fileExists(atPath: other.path))
        living.remove()
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path).sorted() == ["kith-simulation-of-another-kind", "other"])
    }
}
