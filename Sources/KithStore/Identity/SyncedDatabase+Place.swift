import Foundation
import KithSQLite

extension SyncedDatabase {
    /// The database file to which `name` leads, with `ending` behind its name: see ``DatabaseFile/path(of:)``.
    package static func file(at name: URL, ending: String = "") -> URL { URL(filePath: DatabaseFile.path(of: name.path) + ending) }

    /// Whether the database was in a file, and not in memory, when the store was opened.
    package var isInFile: Bool { presence != nil }

    /// Whether files of a store lie beside the database at `name`: then it is, or was, a store.
    package static func wasStore(at name: URL) -> Bool { FileManager.default.fileExists(atPath: file(at: name, ending: "-kith").path) }
}
