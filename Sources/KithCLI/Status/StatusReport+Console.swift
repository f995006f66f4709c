import Foundation
import Kith
import KithProgram
import KithReport

extension StatusReport {
    func write(to console: Console) throws {
        try console.writeLine(console.styled(PlainText.line(sentence), style))
        if let remedy { try console.writeLine(PlainText.line(remedy)) }
        for notice in notices { try console.writeLine(console.styled(PlainText.line(notice.text), notice.isToBeDone ? .yellow : nil)) }
        if let node, !node.peers.isEmpty {
            try console.writeLine("")
            try table(of: node.peers).write(to: console)
            for peer in node.peers {
                for remark in peer.remarks { try console.writeLine("  " + PlainText.line(remark)) }
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
                .init(peer.words, peer.isInSync ? .green : nil), .init(ago ?? "-", .dim),
                .init(peer.address ?? "-"),
            ]
        }
        return table
    }
}
