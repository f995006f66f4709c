import Foundation
import KithNotes
import KithWeb

/// The page of `kith web` as a part of `kith up`: without it, the node works all the same.
struct UpPage: Sendable {
    private let page: NotesPage
    /// Says where it is, or why it is not.
    private let say: @Sendable (String) -> Void

    init(_ notes: NotesStore, _ configuration: PageConfiguration, say: @escaping @Sendable (String) -> Void) {
        page = NotesPage(notes, configuration)
        self.say = say
    }

    /// Runs until the task is cancelled.
    func run() async {
        do {
            try await page.run { page in say("The notes in a browser: \(page.address); `kith web` lets one in.") }
        } catch PageError.isServedElsewhere {
            say("The page is served by another process of yours; see `kith web`.")
        } catch {
            if !Task.isCancelled { say("The page is not served: \(CommandFailure(error)?.message ?? "\(error)")") }
        }
    }
}
