import GRDB
import Kith

/// What a query answers, now and after every commit that changes the answer, whichever process made it.
///
/// A reader that is slow misses what lay in between and gets what is true now.
public struct NoteLists: AsyncSequence, Sendable {
    let notes: NotesStore
    let query: NoteQuery

    public func makeAsyncIterator() -> Iterator {
        Iterator(lists: self)
    }

    public struct Iterator: AsyncIteratorProtocol {
        private let lists: NoteLists
        private var commits: AsyncStream<Void>.Iterator
        private var last: [Note]?

        fileprivate init(lists: NoteLists) {
            self.lists = lists
            // Before the first answer, so that no commit falls between.
            commits = lists.notes.store.commits.makeAsyncIterator()
        }

        /// The next answer; `nil` once the task is cancelled.
        ///
        /// - Throws: ``NotesError`` if the notes cannot be read.
        public mutating func next() async throws(NotesError) -> [Note]? {
            while !Task.isCancelled {
                if last != nil, await commits.next() == nil { return nil }
                let notes = try lists.notes.list(lists.query)
                if notes == last { continue }
                last = notes
                return notes
            }
            return nil
        }
    }
}

extension NotesStore {
    /// The notes that `query` asks for, now and whenever they change.
    public func observe(_ query: NoteQuery = NoteQuery()) -> NoteLists {
        NoteLists(notes: self, query: query)
    }
}
