import Foundation
import Kith

/// What the node that runs for the notes says of itself.
enum PageStatus {
    static func node(notesFile: URL) -> NodeStatus? {
        SyncedDatabase.isSynchronized(at: notesFile.path) ? StatusFile(forStore: notesFile).read() : nil
    }

    /// In a line.
    static func sentence(notesFile: URL, devices: Int?) -> String {
        if let node = node(notesFile: notesFile) { return node.sentence }
        if devices == 0 { return "Local only: no other machine is trusted, so the notes stay on this one." }
        return "Not running: notes can be written and read, and reach the other machines when kith up runs."
    }
}
