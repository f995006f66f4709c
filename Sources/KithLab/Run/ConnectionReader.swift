import Foundation

/// Tells from what nodes say of themselves (`kith up --json`) who was connected to whom, and when.
struct ConnectionReader {
    let names: [String]

    private struct Status: Decodable {
        struct Peer: Decodable {
            var name: String
            var state: String
        }
        var peers: [Peer]
    }

    func connections(_ lines: [(node: Int, atMilliseconds: Int64, line: String)], until end: Int64) -> [LabRecord.Connection] {
        var open: [Scenario.Pair: Int64] = [:]
        var connected: [Set<Int>] = names.map { _ in [] }
        var connections: [LabRecord.Connection] = []
        func close(_ pair: Scenario.Pair, _ at: Int64) {
            guard let from = open.removeValue(forKey: pair), at > from else { return }
            connections.append(.init(first: pair.first, second: pair.second, fromMilliseconds: from, untilMilliseconds: at))
        }
        for (node, at, line) in lines.sorted(by: { $0.atMilliseconds < $1.atMilliseconds }) {
            guard let status = try? JSONDecoder().decode(Status.self, from: Data(line.utf8)) else { continue }
            let now = Set(status.peers.filter { $0.state == "connected" }.compactMap { names.firstIndex(of: $0.name) })
            for peer in now.subtracting(connected[node]) where open[.init(node, peer)] == nil { open[.init(node, peer)] = at }
            for peer in connected[node].subtracting(now) { close(.init(node, peer), at) }
            connected[node] = now
        }
        for pair in open.keys { close(pair, end) }
        return connections.sorted { ($0.fromMilliseconds, $0.first, $0.second) < ($1.fromMilliseconds, $1.first, $1.second) }
    }
}
