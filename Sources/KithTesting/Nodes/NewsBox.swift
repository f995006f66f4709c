import KithSync
import Synchronization

/// What a store told of its commits, in order, until somebody asks.
final class NewsBox: Sendable {
    private let news = Mutex<[CommitNews]>([])

    func add(_ one: CommitNews) {
        news.withLock { $0.append(one) }
    }

    func takeAll() -> [CommitNews] {
        news.withLock { news in
            defer { news = [] }
            return news
        }
    }
}
