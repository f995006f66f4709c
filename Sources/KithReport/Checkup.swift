import Foundation
import Kith
import KithNotes

/// Why machines do not meet, and what else is wrong with the notes of this one: what `kith doctor` and the page say, in the same words.
package struct Checkup: Sendable {
    private let file: URL
    private let identity: URL
    private let trust: Result<TrustStore, TrustError>
    private let keyObstacle: String?
    private let key: DeviceKey
    /// Whether it also asks mDNS.
    package var usesDiscovery = true

    /// - Parameters:
    ///   - file: that of the notes.
    ///   - identity: the folder of the device key.
    ///   - trust: whom this machine trusts, or why that cannot be read.
    ///   - keyObstacle: why this machine has no key, and none can be made.
    package init(file: URL, identity: URL, trust: Result<TrustStore, TrustError>, keyObstacle: String?) {
        self.file = file
        self.identity = identity
        self.trust = trust
        self.keyObstacle = keyObstacle
        key = (try? DeviceKey.load(from: identity)) ?? DeviceKey()
    }

    /// Looks at everything, which takes some seconds. It changes nothing.
    ///
    /// - Parameters:
    ///   - conflicts: the choices that wait; `nil` if they are not known.
    ///   - isOnPage: whether the page says it, which has a place of its own for choices.
    package func findings(_ conflicts: [NoteConflict]?, isOnPage: Bool = false) async -> [DiagnosisFinding] {
        let loss = NotesStore.loss(in: file)
        var findings: [DiagnosisFinding] = []
        switch trust {
        case .success(let trust):
            var doctor = NetworkDoctor(key: key, trust: trust, store: file, app: NotesStore.app)
            doctor.usesDiscovery = usesDiscovery
            findings = await doctor.examine(node: loss != nil ? nil : StatusReport.node(of: file)).map(\.inCommands)
            // Whether this machine belongs to the household is said by its key.
            if keyObstacle != nil, DeviceKey.exists(in: identity) { findings.removeAll { $0.check == "household" } }
        case .failure(let error):
            findings = [DiagnosisFinding("trust", .problem, "Which machines this one trusts cannot be read. \(error.message)", remedy: nil)]
        }
        if let conflicts { findings.append(DiagnosisFinding(conflicts, (try? trust.get())?.deviceNames ?? DeviceNames([]), isOnPage)) }
        if let keyObstacle {
            findings.insert(
                DeviceKey.exists(in: identity)
                    ? DiagnosisFinding(
                        "key", .problem, "The key of this machine cannot be read. \(keyObstacle)",
                        remedy: "Look at the owner and the permissions of what is in \(identity.path).")
                    : DiagnosisFinding(
                        "key", .problem, "This machine has no key yet, and none can be made. \(keyObstacle)",
                        remedy: "Make room on the disk, or choose a folder that can be written: KITH_HOME."), at: 0)
        }
        if FileManager.default.fileExists(atPath: file.path), !FileManager.default.isReadableFile(atPath: file.path) {
            findings.insert(
                DiagnosisFinding(
                    "notes", .problem, "The notes cannot be read: \(file.path) may not be opened.",
                    remedy: "Look at its owner and its permissions."), at: 0)
        }
        if let obstacle = Self.obstacle(to: file) {
            findings.insert(
                DiagnosisFinding(
                    "notes", .problem, "The notes can only be read. \(obstacle)",
                    remedy: "Until this is mended nothing is written or synchronised."), at: 0)
        }
        if loss != nil {
            findings.insert(
                DiagnosisFinding(
                    "notes", .problem, "The notes are gone: their file is missing or empty, though there were notes.",
                    remedy: "Look for a backup, or let the other machines refill it: kith recover"), at: 0)
        }
        return findings
    }

    /// Why nothing can be written into the folder of the notes; `nil` if something can, or if there is no such folder yet.
    private static func obstacle(to notes: URL) -> String? {
        let folder = notes.deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: folder.path), !FileManager.default.isWritableFile(atPath: folder.path) else {
            return nil
        }
        return "Its folder \(folder.path) cannot be written."
    }
}

extension DiagnosisFinding.Verdict {
    /// In a word, at the beginning of a line.
    package var word: String {
        switch self {
        case .good: "ok"
        case .warning: "look"
        case .problem: "WRONG"
        }
    }
}

extension DiagnosisFinding {
    /// Conflicts keep no machines apart, and want to be seen.
    fileprivate init(_ conflicts: [NoteConflict], _ names: DeviceNames, _ isOnPage: Bool) {
        guard let first = conflicts.first else {
            self.init(Self.conflictsCheck, .good, "No note has several versions of a title or a color.")
            return
        }
        let rest = conflicts.count == 1 ? "" : " \(conflicts.count - 1) more wait\(conflicts.count == 2 ? "s" : "") for a choice."
        self.init(
            Self.conflictsCheck, .warning, (isOnPage ? first.statement(names) + "." : first.sentence(names)) + rest,
            remedy: isOnPage ? nil : "Choose: kith conflicts list")
    }

    private static let conflictsCheck = "conflicts"

    /// The page's own place for it; `nil` where it has none, or nothing is to be done.
    package var place: ReportPlace? { check == Self.conflictsCheck && verdict != .good ? .choices : nil }
}
