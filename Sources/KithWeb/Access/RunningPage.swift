import Foundation
import Kith
import KithLock

/// The page that some process of this person serves for these notes: where it is, and the token that lets a browser in.
public struct RunningPage: Codable, Hashable, Sendable {
    /// As `http://127.0.0.1:4780`.
    public let address: String
    /// SHA-256 of its certificate, for a person to compare with what a browser shows; `nil` without HTTPS.
    public var fingerprint: String?
    /// Good once.
    let token: String

    /// The address that lets one browser in.
    public var entrance: URL? { URL(string: "\(address)/?token=\(token)") }

    /// The page that is served now; `nil` if none is.
    ///
    /// - Parameter folder: that of its ``PageConfiguration``.
    public static func current(in folder: URL) -> RunningPage? {
        guard PageTurn.isTaken(in: folder) else { return nil }
        return (try? Data(contentsOf: file(in: folder))).flatMap { try? JSONDecoder().decode(RunningPage.self, from: $0) }
    }

    func write(in folder: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try PrivateText.write(encoder.encode(self), to: Self.file(in: folder))
    }

    static func remove(in folder: URL) {
        try? FileManager.default.removeItem(at: file(in: folder))
    }

    private static func file(in folder: URL) -> URL { folder.appending(path: "page.json") }
}

/// Lets one process of this machine at a time serve the page of some notes. The turn ends with this object, or with the process.
final class PageTurn: Sendable {
    private let lock: FileLock?
    /// Whether nobody else has it.
    let isOurs: Bool

    /// Makes the folder, which only its owner can read.
    init(in folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        lock = FileLock(reading: folder.path)
        // Who looks whether it is taken holds it for a moment.
        isOurs = (try? lock?.tryToTake(.exclusive, for: 100, pauseMilliseconds: 2)) == true
    }

    /// Whether some process has the turn. Two that ask at once are not in each other's way.
    static func isTaken(in folder: URL) -> Bool {
        guard let lock = FileLock(reading: folder.path), let isFree = try? lock.tryToTake(.shared) else { return false }
        if isFree { lock.release() }
        return !isFree
    }
}
