import Foundation

/// A copy of a file that is a person's own, to be changed at will.
package enum FileCopy {
    /// - Throws: ``FilesError`` if something is at `path` already, or it cannot be written; nothing is left of the copy then.
    package static func make(of source: URL, at path: String) throws {
        try FilesError.mapping { try NewFolder.makeFile(path) { try NewFile.copy(source, to: $0) } }
    }
}
