/// Paths within a folder, as text. They are cut at their slashes by bytes, as the system does it: a slash with a mark above it is one
/// character, and a slash nevertheless.
package enum RelativePath {
    private static let slash = UInt8(ascii: "/")

    /// The names on a path.
    static func names(of path: some StringProtocol) -> [String] {
        path.utf8.split(separator: slash).map { String(decoding: $0, as: UTF8.self) }
    }

    static func isAbsolute(_ path: String) -> Bool { path.utf8.first == slash }

    /// Whether a path lies in the folder, which is not the folder itself.
    static func isIn(_ folder: String, _ path: String) -> Bool { path.utf8.starts(with: "\(folder)/".utf8) }

    /// The path that `path` means in a file of `folder`; `nil` if it leaves the outermost folder, or is no relative path.
    static func resolved(_ path: String, in folder: Substring) -> String? {
        if path.isEmpty || isAbsolute(path) || path.utf8.contains(0) { return nil }
        var parts = names(of: folder)
        for part in names(of: path) where part != "." {
            if part == ".." {
                if parts.popLast() == nil { return nil }
            } else {
                parts.append(part)
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: "/")
    }

    /// The folder of a file, without the last slash; empty for the outermost.
    static func folder(of path: String) -> Substring {
        path.utf8.lastIndex(of: slash).map { path[..<$0] } ?? ""
    }

    package static func name(of path: String) -> String {
        path.utf8.lastIndex(of: slash).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// The way from a file's folder to the outermost one: `../` for each folder that it lies in.
    static func outward(from path: String) -> String {
        String(repeating: "../", count: path.utf8.count { $0 == slash })
    }
}
