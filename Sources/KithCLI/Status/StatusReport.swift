import Foundation
import Kith

/// What `kith status` says.
struct StatusReport: Encodable {
    let device: String
    let notes: String
    /// Whether a node works on these notes.
    let isRunning: Bool
    /// What is going on, in plain words.
    let sentence: String
    /// What can be done about it, if anything.
    let remedy: String?
    /// The household, in short; `nil` without one.
    let household: String?
    /// Which other machines hold everything; `nil` without notes, and where they cannot be read.
    var safety: Safety?
    /// Attachments whose bytes are to come from another machine.
    var attachmentsOnTheirWay = 0
    /// Rows that a rule of the notes' own tables keeps from being shown as they were merged.
    var refusedRows = 0
    /// What the running node says of itself.
    let node: NodeStatus?

    init(device: DeviceID, notes: URL, node: NodeStatus?, trust: TrustStore) {
        self.device = device.description
        self.notes = notes.path
        self.node = node
        household = trust.household?.id.description
        isRunning = node != nil
        if let node {
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
        if let safety, safety.devices > 0 {
            try console.writeLine(console.styled(PlainText.line(safety.sentence), safety.names == nil ? .yellow : nil))
        }
        if attachmentsOnTheirWay > 0 {
            let few = attachmentsOnTheirWay == 1 ? "1 attachment is" : "\(NodeStatus.grouped(attachmentsOnTheirWay)) attachments are"
            try console.writeLine("\(few) on the way here.")
        }
        if refusedRows > 0 {
            try console.writeLine(
                "\(refusedRows == 1 ? "1 row is" : "\(NodeStatus.grouped(refusedRows)) rows are") refused by a rule of the table. See `kith verify`."
            )
        }
        if let node, !node.peers.isEmpty {
            try console.writeLine("")
            try Self.table(of: node.peers).write(to: console)
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
        switch node?.state {
        case .upToDate: .green
        case .stalled: .red
        default: .bold
        }
    }

    private var facts: [(String, String)] {
        var facts = [("Notes", notes), ("Device", device)]
        if let household { facts.append(("House", household)) }
        if let node {
            facts.append(("Port", node.port.map(String.init) ?? "none"))
            facts.append(("mDNS", node.mdns))
        }
        return facts
    }

    private static func table(of peers: [NodeStatus.Peer]) -> TextTable {
        var table = TextTable(header: ["DEVICE", "ID", "STATE", "LAST IN STEP", "ADDRESS"], flexibleColumns: 0, 2, 4)
        table.rows = peers.map { peer in
            [
                .init(peer.name.isEmpty ? "(no name)" : peer.name, .bold),
                .init(String(peer.deviceID.prefix(11))),
                .init(state(of: peer), peer.isInSync ? .green : nil),
                .init(peer.lastSyncMilliseconds.flatMap(TimeText.init(milliseconds:))?.local ?? "never", .dim),
                .init(peer.address ?? "-"),
            ]
        }
        return table
    }

    private static func state(of peer: NodeStatus.Peer) -> String {
        if peer.state == .notReachable { return "not reachable" }
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
        if let error = peer.lastError, peer.state == .notReachable { remarks.append("\(name): \(error)") }
        if let offset = peer.clockOffsetMilliseconds {
            let seconds = offset.magnitude / 1_000
            remarks.append("\(name): its clock is \(seconds) seconds \(offset > 0 ? "ahead of" : "behind") this one. Set the clocks.")
        }
        if let count = peer.rowsMended {
            let last = (peer.mended ?? []).last.map { ", the last of them \($0)" } ?? ""
            remarks.append(
                "\(name): \(count == 1 ? "1 row" : "\(count) rows") differed without a reason and \(count == 1 ? "was" : "were") mended\(last). Nothing was lost; run `kith verify`."
            )
        } else if peer.isIdentical == false {
            remarks.append("\(name): it holds other rows than this machine although both know the same; they are being compared.")
        }
        return remarks
    }
}
