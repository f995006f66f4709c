import Foundation
import KithNotes
import Synchronization

/// What a person is told who starts kith for the first time.
enum FirstStart {
    /// What to do next, in two lines on any terminal.
    static let sentences = """
        Welcome. Write a note: kith note add "Shopping" --body "Bread"; kith shows all.
        To have them on another machine, too: kith pair on both, then kith up on both.
        """

    /// What the full-screen view says where there is no screen.
    static let withoutScreen = """
        This is no terminal that shows the notes on the whole screen. These work anywhere:
          kith note list                       all notes; kith note add writes one
          kith up                              keep them in step with your other machines; kith pair on both comes first
          kith --help                          everything else
        """

    private static let isTold = Mutex(false)

    /// Says so on a terminal, once, if there is neither a key nor a note in these folders.
    static func tell(_ folders: Folders) {
        let isFirst = isTold.withLock { isTold in
            defer { isTold = true }
            return !isTold
        }
        guard isFirst, Console.error.isTerminal else { return }
        let isThere = [folders.identity, folders.notes].contains { FileManager.default.fileExists(atPath: $0.path) }
        if !isThere, NotesStore.loss(in: folders.notes) == nil { try? Console.error.writeLine(sentences) }
    }
}
