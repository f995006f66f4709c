import Foundation
import Kith
import KithFiles
import KithNotes
import KithProgram

/// How things stand with the notes of this machine: what `kith status` and the page say, in the same words.
package struct StatusReport: Encodable, Sendable {
    /// `nil` if this machine has no key yet, and none can be made.
    package let device: String?
    /// Why none can be made.
    package let keyObstacle: String?
    /// The file of the notes.
    package let notes: String
    /// Whether a node works on these notes.
    package let isRunning: Bool
    /// What is going on, in plain words.
    package let sentence: String
    /// Whether the notes that were in the file are gone.
    package let isLost: Bool
    /// What can be done about it, if anything.
    package let remedy: String?
    /// The same for the page, which pairs by itself.
    package private(set) var remedyOnPage: String?
    /// The household, in short; `nil` without one.
    package let household: String?
    /// Which other machines hold everything; `nil` without notes, and where they cannot be read.
    package private(set) var safety: Safety?
    /// The same in plain words.
    package private(set) var safetySentence: String?
    /// Attachments whose bytes are to come from another machine.
    package private(set) var attachmentsOnTheirWay = 0
    /// Fields of notes of which several versions are kept.
    package private(set) var conflicts = 0
    /// Rows that differed from another machine's without a reason, and were mended here; `nil` if none were since `kith verify` last found
    /// all well.
    package private(set) var mended: Mended?
    /// Rows that a rule of the notes' own tables keeps from being shown as they were merged.
    package private(set) var refusedRows = 0
    /// Where another machine has deleted so many notes that people may not have meant it.
    package private(set) var massDeletions: [MassDeletionRecord] = []
    /// The same in plain words.
    package private(set) var warnings: [String] = []
    /// What was deleted, and how a command names it.
    private(set) var massDeletionSentences: [(String, String)] = []
    /// Folders of Markdown files.
    package private(set) var folders: [Folder] = []
    /// What the running node says of itself.
    package let node: NodeStatus?
    /// When each device was last heard of, in milliseconds since 1970, by its id; as `kith device list` says it.
    package private(set) var lastSeenMilliseconds: [String: Int64] = [:]

    private enum CodingKeys: String, CodingKey {
        case device, keyObstacle, notes, isRunning, sentence, isLost, remedy, household, safety, safetySentence, attachmentsOnTheirWay
        case conflicts, mended, refusedRows, massDeletions, warnings, folders, node
    }

    package struct Folder: Encodable, Sendable {
        package let path: String
        package let isHere: Bool
        /// Files that are left as they are, and files that are gone, of which the notes are kept.
        package let left: Int
        package let held: Int
        /// Notes that are not in their files as they are now.
        package let behind: Int

        init(_ folder: NotesFolder, _ state: NotesFolder.State) {
            (path, isHere, left, held, behind) = (folder.path, folder.isHere, state.left.count, state.held, state.behind)
        }
    }

    package struct Mended: Encodable, Sendable {
        package let rows: UInt64
        package let lastTable: String
        package let lastID: String
        /// The title of the note that the last one belongs to, if it is there.
        package let lastTitle: String?
        package let time: String?

        init(_ mending: Mending, title: String?) {
            rows = mending.rowCount
            lastTable = mending.table
            lastID = mending.row.description
            lastTitle = title
            time = TimeText(milliseconds: mending.milliseconds)?.iso8601
        }
    }
}

extension StatusReport {
    /// What is said of the node that runs for the notes in `file`; `nil` if none runs. One that was killed could not remove its status.
    package static func node(of file: URL) -> NodeStatus? {
        SyncedDatabase.isSynchronized(at: file.path) ? StatusFile(forStore: file).read()?.inCommands : nil
    }

    /// In short, without a look at the notes.
    ///
    /// - Parameters:
    ///   - file: that of the notes.
    ///   - keyObstacle: why this machine has no key, and none can be made.
    package init(file: URL, node: NodeStatus?, trust: TrustStore, keyObstacle: String? = nil) {
        let loss = NotesStore.loss(in: file)
        device = keyObstacle == nil ? trust.ownID.description : nil
        self.keyObstacle = keyObstacle
        notes = file.path
        self.node = node
        household = trust.household?.id.description
        isRunning = node != nil
        isLost = loss != nil
        if let loss {
            sentence = "The notes are gone: their file \(loss == .missing ? "is missing" : "is empty"), though there were notes."
            remedy = "Look for a backup, or let the other machines refill it: kith recover"
        } else if let node {
            (sentence, remedy) = (node.sentence, node.remedy)
        } else if trust.standing == .removed {
            sentence = "Local only: this machine was removed from its household. Its notes are all here."
            remedy = "To come back, run `kith pair` here and on a machine of the household; to stay alone, `kith household leave`."
        } else if trust.standing == .left {
            sentence = "Local only: this machine has left its household. Its notes are all here."
            remedy = "The others hear of it when `kith up` runs here. To come back, run `kith pair` here and on one of them."
        } else if trust.devices.isEmpty {
            sentence = "Local only: no other machine is trusted, so the notes stay on this one."
            remedy = "To share them, run `kith pair` on both machines, and then `kith up`."
        } else {
            sentence = "Not running: what is written here reaches the other machines later."
            remedy = "Start synchronising with `kith up`."
        }
        remedyOnPage = isLost ? remedy : Self.remedyOnPage(node, trust) ?? remedy
    }

    /// Where a command would pair, the page says that it does; `nil` elsewhere.
    private static func remedyOnPage(_ node: NodeStatus?, _ trust: TrustStore) -> String? {
        guard let node else {
            if trust.standing == .removed || trust.standing == .left { return nil }
            return trust.devices.isEmpty ? "To share them, pair another machine below, and then run `kith up`." : nil
        }
        return switch node.reason {
        case .noDevice, .noOtherMember: "To synchronise, pair another machine below."
        case .removed:
            "Your notes are all here. To come back, pair below with a device of the household; to stay alone, `kith household leave`."
        case .left:
            "Your notes are all here. The others hear of it as soon as one of them is reached; to come back, pair below with one of them."
        case .refused:
            "It may have been removed on another device. Your notes are all here; to share them again, pair below with one of the others."
        default: nil
        }
    }

    /// In full.
    ///
    /// - Parameter store: the notes in `file`.
    package init(_ store: NotesStore, file: URL, trust: TrustStore, keyObstacle: String? = nil) throws {
        self.init(file: file, node: Self.node(of: file), trust: trust, keyObstacle: keyObstacle)
        let safety = try store.store.safety(among: trust.devices)
        self.safety = safety
        safetySentence = safety.sentence(rows: "Texts") { loose in
            AttachmentID(loose.id).flatMap { try? store.attachments(withContent: $0).first?.name }
        }
        attachmentsOnTheirWay = try store.store.wantedAttachments().count
        mended = try store.store.mending().map { Mended($0, title: (try? store.title(ofMended: $0)) ?? nil) }
        conflicts = try store.conflicts().count
        let massDeletions = try store.massDeletions()
        self.massDeletions = massDeletions.map(MassDeletionRecord.init)
        let names = trust.deviceNames
        warnings = massDeletions.map { $0.warning(names) }
        massDeletionSentences = massDeletions.map { ($0.sentence(names), $0.restorable(names)) }
        refusedRows = try store.store.refusedRows().count
        folders = try NotesFolder.all(of: store).map { Folder($0, try $0.state(in: store)) }
        for member in try store.store.members() where member.replica != nil {
            guard let id = DeviceID(bytes: member.device)?.description else { continue }
            lastSeenMilliseconds[id] = member.seenMilliseconds
        }
    }
}
