import Foundation

/// The file that a report goes to.
struct ReportFile {
    let path: String

    /// Tries whether the report can be written, without touching a report that is there already: a run takes minutes, and its report
    /// would be lost.
    func check() throws(LabError) {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue {
            throw LabError(.cannotCreate, "The report cannot be written: \(path) is a folder. Nothing was run; name a file in it.")
        }
        if let obstacle = obstacle() {
            throw LabError(
                .cannotCreate,
                "The report cannot be written to \(path) (\(obstacle)). Nothing was run; name a file in a folder that exists and can be written to."
            )
        }
    }

    func write(_ report: HTMLReport) throws(LabError) {
        do {
            try Data(report.text.utf8).write(to: url, options: .atomic)
        } catch {
            throw LabError(
                .cannotCreate,
                "The report could not be written to \(path) (\(obstacle() ?? error.localizedDescription)). What was found is told above; run it again for the report."
            )
        }
    }

    private var url: URL { URL(filePath: path) }

    /// Why no file can be made beside the report, which then replaces it, as it is in the end; `nil` if one can.
    private func obstacle() -> String? {
        let trial = url.deletingLastPathComponent().appending(path: ".kith-lab-\(UInt64.random(in: 0 ... .max))").path
        let descriptor = open(trial, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        close(descriptor)
        unlink(trial)
        return nil
    }
}
