import Foundation
import Kith

/// What the node that runs for the notes says of itself, in a line.
enum PageStatus {
    static func sentence(notesFile: URL) -> String {
        guard SyncedDatabase.isSynchronized(at: notesFile.path), let status = StatusFile(forStore: notesFile).read() else {
            return "Not running: notes can be written and read here, and reach the other machines later."
        }
        return status.sentence
    }
}
