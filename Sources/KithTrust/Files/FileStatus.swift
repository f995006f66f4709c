import Foundation

/// What the file system says of a file, links followed.
struct FileStatus: Sendable {
    /// What tells one version of a file from the next without reading it.
    struct Stamp: Hashable, Sendable {
        fileprivate let number: Int64
        fileprivate let bytes: Int64
        fileprivate let modified: Date
    }

    let isRegular: Bool
    let isFolder: Bool
    /// The user to whom it belongs.
    let owner: Int64
    /// The permission bits.
    let mode: Int64
    /// Size in bytes.
    let bytes: Int64
    let stamp: Stamp

    /// Of the file at `path`; `nil` if there is none to look at.
    init?(path: String) {
        let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: resolved),
            let owner = Self.integer(attributes[.ownerAccountID]), let mode = Self.integer(attributes[.posixPermissions]),
            let bytes = Self.integer(attributes[.size]), let number = Self.integer(attributes[.systemFileNumber]),
            let modified = attributes[.modificationDate] as? Date
        else { return nil }
        let type = attributes[.type] as? FileAttributeType
        isRegular = type == .typeRegular
        isFolder = type == .typeDirectory
        self.owner = owner
        self.mode = mode
        self.bytes = bytes
        stamp = Stamp(number: number, bytes: bytes, modified: modified)
    }

    private static func integer(_ value: Any?) -> Int64? {
        switch value {
        case let value as any BinaryInteger: Int64(clamping: value)
        case let value as NSNumber: value.int64Value
        default: nil
        }
    }
}
