import Foundation

/// A folder of one test, removed with everything in it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("kith-trust-\(UUID())", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func url(_ name: String) -> URL {
        url.appendingPathComponent(name)
    }

    func write(_ text: String, to name: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: url(name))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url(name).path)
    }

    func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: url(name)), as: UTF8.self)
    }

    func mode(_ name: String) throws -> Int? {
        let path = name.isEmpty ? url.path : url(name).path
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }
}
