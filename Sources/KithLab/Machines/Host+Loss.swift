#if os(Linux)
import Foundation
import Glibc

extension Host {
    /// `EX_DATAERR`, by which commands say that the notes are gone.
    private static let gone: Int32 = 65
    private static let commandSecondsMax = 20

    /// Takes the notes away, as a slip of the fingers or a failing disk does.
    func lose(_ loss: Scenario.Loss) throws {
        switch loss {
        case .emptied:
            guard truncate(notes.path, 0) == 0 else {
                throw LabError(.software, "The notes cannot be emptied: \(String(cString: strerror(errno))).")
            }
        case .missing:
            for suffix in ["", "-wal", "-shm"] where unlink(notes.path + suffix) != 0 && errno != ENOENT {
                throw LabError(.software, "The notes cannot be removed: \(String(cString: strerror(errno))).")
            }
        }
    }

    /// The first command that does not say that the notes are gone and what can be done about it; what comes after it may find others.
    ///
    /// - Parameter loss: what has just been done to them; `nil` if that was some time ago.
    func commandThatNoticesNoLoss(_ loss: Scenario.Loss?) -> Finding? {
        let commands = [
            ["status", "--json"], ["note", "list"], ["note", "add", "Nobody keeps this"], ["recover"], ["up", "--port", "0"],
        ]
        let when =
            switch loss {
            case .emptied: "were just emptied"
            case .missing: "were just removed"
            case nil: "were still gone"
            }
        for command in commands {
            let answer = try? run(command, secondsMax: Self.commandSecondsMax)
            if let answer, answer.status == Self.gone, answer.text.contains("kith recover") { continue }
            let words = "`kith \(command.joined(separator: " "))`"
            let end = answer.map { "ended with status \($0.status)" } ?? "could not be run"
            return Finding(
                rule: .lossUnnoticed, sentence: "The notes of \(spec.name) \(when), and \(words) \(end) without saying so.")
        }
        return nil
    }
}
#endif
