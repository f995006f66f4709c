import Foundation
import KithNotes
import KithWeb

/// The page of `kith web` as a part of `kith up`: without it, the node works all the same.
struct UpPage: Sendable {
    /// How long it waits, in seconds, before it looks again whether another process still serves the page.
    private static let pauseSeconds = 2

    private let page: NotesPage
    private let folder: URL
    /// Says where it is, or why it is not.
    private let say: @Sendable (String) -> Void

    init(_ notes: NotesStore, _ configuration: PageConfiguration, say: @escaping @Sendable (String) -> Void) {
        page = NotesPage(notes, configuration)
        folder = configuration.folder
        self.say = say
    }

    /// Runs until the task is cancelled. If another process of this person serves the page, it waits for the end of that one.
    func run() async {
        var isSaid = false
        while !Task.isCancelled {
            do {
                return try await page.run { page in say("The notes in a browser: \(page.address); `kith web` lets one in.") }
            } catch PageError.isServedElsewhere {
                if !isSaid { say("The page is served by another process of yours; when that ends, by this one.") }
                isSaid = true
                repeat {
                    try? await Task.sleep(for: .seconds(Self.pauseSeconds))
                } while !Task.isCancelled && RunningPage.current(in: folder) != nil
            } catch {
                if !Task.isCancelled { say("The page is not served: \(CommandFailure(error)?.message ?? "\(error)")") }
                return
            }
        }
    }
}
