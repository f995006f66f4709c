import Foundation

/// Another program of Kith.
package enum Companion {
    /// Where the program is: beside this one, or else on the path; `nil` if it is not installed.
    package static func path(
        of name: String, beside own: URL? = Bundle.main.executableURL?.resolvingSymlinksInPath(),
        searching path: String? = ProcessInfo.processInfo.environment["PATH"]
    ) -> String? {
        let folders = (path ?? "").split(separator: ":").filter { $0.hasPrefix("/") }.map {
            URL(filePath: String($0), directoryHint: .isDirectory)
        }
        let places = [own?.deletingLastPathComponent()].compactMap(\.self) + folders
        return places.map { $0.appending(path: name).path }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
