import KithCausality

/// What is known of a commit without a look at the database.
package enum CommitNews: Hashable, Sendable {
    /// This process has made a commit of its own, and the store knows nothing else that is new.
    case own(Head)
    /// This process has applied a slice, after which the store knows this.
    case merged(StoreSummary)
    /// Another process has committed, or more has happened than can be said here.
    case unknown
}

extension StoreSummary {
    /// The summary after a commit; `nil` if it does not follow from the news, so that it must be read.
    func learning(_ news: CommitNews) -> StoreSummary? {
        switch news {
        case .own(let head):
            // Other processes commit as the same replica. Who has missed one of theirs sees the gap.
            guard head.dot.replica == replica, head.dot.sequence == vector[replica] + 1 else { return nil }
            var summary = self
            summary.learn(head)
            summary.clock = max(clock, head.timestamp)
            return summary
        case .merged(let summary):
            return summary.replica == replica && summary.vector.covers(vector) ? summary : nil
        case .unknown:
            return nil
        }
    }
}
