import Foundation

/// A text file that the command line names.
enum InputFile {
    /// Larger files are no schemas and no scripts.
    private static let bytesMax = 16 << 20

    /// - Throws: ``LabError`` that says why the file cannot be read.
    static func read(_ path: String) throws(LabError) -> String {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            let isThere = FileManager.default.fileExists(atPath: path)
            throw LabError(.noInput, isThere ? "\(path) cannot be read: check its permissions." : "There is no file \(path).")
        }
        defer { try? handle.close() }
        guard let bytes = try? handle.read(upToCount: bytesMax + 1) else {
            // Nothing at all is read of an empty file.
            if (try? handle.offset()) == 0, isFile(path) { return "" }
            throw LabError(.noInput, "\(path) cannot be read as a file.")
        }
        if bytes.count > bytesMax { throw LabError(.data, "\(path) has more than \(bytesMax >> 20) MiB.") }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw LabError(.data, "\(path) is not UTF-8.") }
        return text
    }

    private static func isFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }
}
