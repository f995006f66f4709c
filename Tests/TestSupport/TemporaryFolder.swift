import Foundation

/// A folder of one test, removed with everything in it when nobody holds it any more.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("kith-test-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    package var path: String { url.path }

    package func url(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// The path of a file in it.
    package func file(_ name: String) -> String { url.path + "/" + name }
}
