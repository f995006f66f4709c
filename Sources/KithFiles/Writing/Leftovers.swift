import Foundation
import Synchronization

/// What work in progress has made under names of its own, so that a program that is ended by a signal leaves nothing of it behind.
package enum Leftovers {
    private static let paths = Mutex<Set<String>>([])

    static func note(_ path: String) { paths.withLock { _ = $0.insert(path) } }

    static func forget(_ path: String) { paths.withLock { _ = $0.remove(path) } }

    /// Removes all of it. What is still written then fails.
    package static func removeAll() {
        for path in paths.withLock({ $0 }).sorted() { try? FileManager.default.removeItem(atPath: path) }
    }
}
