import Foundation
import Kith
import KithFiles
import KithNotes

/// What `kith status` says.
struct StatusReport: Encodable {
    /// `nil` if this machine has no key yet, and none can be made.
    let device: String?
    /// Why none can be made.
    var keyObstacle: String?
    let notes: String
    /// Whether a node works on these notes.
    let isRunning: Bool
    /// What is going on, in plain words.
    let sentence: String
    /// Whether the notes that were in the file are gone.
    let isLost: Bool
    /// What can be done about it, if anything.
    let remedy: String?
    /// The household, in short; `nil` without one.
    let household: String?
    /// Which other machines hold everything; `nil` without notes, and where they cannot be read.
    var safety: Safety?
    /// The same in plain words.
    var safetySentence: String?
    /// Attachments whose bytes are to come from another machine.
    var attachmentsOnTheirWay = 0
    /// Fields of notes of which several versions are kept.
    private(set) var conflicts = 0
    var noteConflicts: [NoteConflict] = [] { didSet { conflicts = noteConflicts.count } }
    /// Rows that differed from another machine's without a reason, and were mended here; `nil` if none were since `kith verify` last found
    /// all well.
    var mended: Mended?
    /// Rows that a rule of the notes' own tables keeps from being shown as they were merged.
    var refusedRows = 0
    /// Where another machine has deleted so many notes that people may not have meant it.
    var massDeletions: [MassDeletionRecord] = []
    /// The same in plain words.
    var warnings: [String] = []
    /// Folders of Markdown files.
    var folders: [Folder] = []
    /// What the running node says of itself.
    let node: NodeStatus?
    /// When each device was last heard of, in milliseconds since 1970, by its id; as `kith device list` says it.
    var lastSeenMilliseconds: [String: Int64] = [:]

    private enum CodingKeys: String, CodingKey {
        case device, keyObstacle, notes, isRunning, sentence, isLost, remedy, household, safety, safetySentence, attachmentsOnTheirWay
        case conflicts, mended, refusedRows, massDeletions, warnings, folders, node
    }

    struct Folder: Encodable {
        let path: String
        let isHere: Bool
        /// Files that are left as they are, and files that are gone, of which the notes are kept.
        let left: Int
        let held: Int

        init(_ folder: NotesFolder, _ state: NotesFolder.State) {
            (path, isHere, left, held) = (folder.path, folder.isHere, state.left.count, state.held)
        }

        /// What a person is to look at; `nil` if nothing is.
        var sentence: String? {
            if !isHere { return "The folder \(path) is not there, or not mounted." }
            var parts: [String] = []
            if left > 0 {
                parts.append("\(Count.text(left, "file")) \(left == 1 ? "is" : "are") left as \(left == 1 ? "it is" : "they are")")
            }
            if held > 0 { parts.append("\(Count.text(held, "file")) \(held == 1 ? "is" : "are") gone, and the notes kept") }
            return parts.isEmpty ? nil : "Of the folder \(path), \(parts.joined(separator: ", and ")). See `kith folder list`."
        }
    }

    struct Mended: Encodable {
        let rows: UInt64
        let lastTable: String
        let lastID: String
        /// The title of the note that the last one belongs to, if it is there.
        let lastTitle: String?
        let time: String?

        init(_ mending: Mending, title: String??) {
            rows = mending.rowCount
            lastTable = mending.table
            lastID = mending.row.description
            lastTitle = title ?? nil
            time = TimeText(milliseconds: mending.milliseconds)?.iso8601
        }

        var sentence: String {
            let what =
                rows == 1 ? "1 row differed without a reason and was mended" : "\(rows) rows differed without a reason and were mended"
            let last = lastTitle.map { "\u{201C}\($0)\u{201D}" } ?? "\(lastTable) \(lastID)"
            return "\(what)\(rows == 1 ? ":" : ", the last of them") \(last). Nothing was lost; run `kith verify`."
        }
    }

    init(device: DeviceID?, notes: URL, node: NodeStatus?, trust: TrustStore, loss: StoreLoss?) {
        self.device = device?.description
        self.notes = notes.path
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
            sentence = "Not running: notes can be written and read, and reach the other machines later."
            remedy = "Start synchronising with `kith up`."
        }
    }

    func write(to console: Console) throws {
        try console.writeLine(console.styled(PlainText.line(sentence), style))
        if let remedy { try console.writeLine(PlainText.line(remedy)) }
        for warning in warnings { try console.writeLine(console.styled(warning, .yellow)) }
        if let safety, let safetySentence, safety.devices > 0 {
            try console.writeLine(console.styled(PlainText.line(safetySentence), safety.names == nil ? .yellow : nil))
        }
        if let mended { try console.writeLine(console.styled(PlainText.line(mended.sentence), .yellow)) }
        if attachmentsOnTheirWay > 0 {
            let few = attachmentsOnTheirWay == 1 ? "1 attachment is" : "\(NodeStatus.grouped(attachmentsOnTheirWay)) attachments are"
            try console.writeLine("\(few) on the way here.")
        }
        if let sentence = noteConflicts.sentence { try console.writeLine(console.styled(sentence, .yellow)) }
        for sentence in folders.compactMap(\.sentence) { try console.writeLine(console.styled(PlainText.line(sentence), .yellow)) }
        if refusedRows > 0 {
            try console.writeLine(
                "\(refusedRows == 1 ? "1 row is" : "\(NodeStatus.grouped(refusedRows)) rows are") refused by a rule of the table. See `kith verify`."
            )
        }
        if let node, !node.peers.isEmpty {
            try console.writeLine("")
            try table(of: node.peers).write(to: console)
            for peer in node.peers {
                for remark in Self.remarks(on: peer) { try console.writeLine("  " + PlainText.line(remark)) }
            }
        }
        try console.writeLine("")
        for (name, value) in facts {
            try console.writeLine(console.styled(name.padded(toWidth: 8), .dim) + PlainText.line(value))
        }
    }

    private var style: TextStyle {
        if isLost { return .red }
        return switch node?.state {
        case .upToDate: .green
        case .stalled: .red
        default: .bold
        }
    }

    private var facts: [(String, String)] {
        var facts = [("Notes", notes), ("Device", device ?? keyObstacle ?? "none")]
        if let household { facts.append(("House", household)) }
        if let node {
            facts.append(("Port", node.port.map(String.init) ?? "none"))
            facts.append(("mDNS", node.mdns))
        }
        return facts
    }

    private func table(of peers: [NodeStatus.Peer]) -> TextTable {
        var table = TextTable(header: ["DEVICE", "ID", "STATE", "LAST SEEN", "ADDRESS"], flexibleColumns: 0, 2, 4)
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        table.rows = peers.map { peer in
            let seen = [lastSeenMilliseconds[peer.deviceID], peer.lastSyncMilliseconds].compactMap(\.self).max()
            let ago = peer.state == .connected ? "now" : seen.flatMap(TimeText.init(milliseconds:))?.ago(nowMilliseconds: now)
            return [
                .init(peer.name.isEmpty ? "(no name)" : peer.name, .bold),
                .init(String(peer.deviceID.prefix(11))),
                .init(Self.state(of: peer), peer.isInSync ? .green : nil), .init(ago ?? "-", .dim),
                .init(peer.address ?? "-"),
            ]
        }
        return table
    }

    private static func state(of peer: NodeStatus.Peer) -> String {
        if peer.state == .notReachable { return peer.isRefused == true ? "refuses this device" : "not reachable" }
        if peer.isInSync { return "up to date" }
        if let progress = peer.receiving ?? peer.sending {
            let share = "\(NodeStatus.grouped(progress.rows)) of about \(NodeStatus.grouped(progress.rowsTotal)) rows"
            return (peer.receiving == nil ? "sent " : "received ") + share
        }
        let rows = [(peer.rowsToSend, "to send"), (peer.rowsToReceive, "to receive")].filter { $0.0 > 0 }
        return rows.isEmpty ? "connected" : rows.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }

    private static func remarks(on peer: NodeStatus.Peer) -> [String] {
        let name = peer.name.isEmpty ? String(peer.deviceID.prefix(11)) : peer.name
        var remarks: [String] = []
        if peer.twins != nil { remarks.append(NodeStatus.sentence(onTwinsOf: peer) + " Run `kith device renew` on one of them.") }
        if let error = peer.lastError, peer.state == .notReachable { remarks.append("\(name): \(error)") }
        if let offset = peer.clockOffsetMilliseconds {
            remarks.append("\(name): its clock is \(PlainDuration.offset(milliseconds: offset)) this one's. Set the clocks.")
        }
        if peer.isIdentical == false {
            remarks.append("\(name): it holds other rows than this machine although both know the same; they are being compared.")
        }
        return remarks
    }
}
