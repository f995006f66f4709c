/// Who was connected to whom, and when the path between them was broken: a row for each pair.
struct ConnectionChart {
    let record: LabRecord
    let axis: TimeAxis
    private let isNarrow: Bool

    init(_ record: LabRecord, isVertical: Bool) {
        self.record = record
        isNarrow = isVertical
        let letters = Self.pairs(of: record).map { Self.label($0, record).count }.max() ?? 0
        // Beside the rows if there is room, as far in as the other pictures if that is enough.
        let start = isVertical ? 30 : max(108, Double(letters) * 6.6 + 16)
        axis = TimeAxis(record: record, isVertical: false, start: start, length: isVertical ? 350 : 1_168 - start)
    }

    private static func label(_ pair: Scenario.Pair, _ record: LabRecord) -> String {
        "\(record.nodes[pair.first].name) \u{2013} \(record.nodes[pair.second].name)"
    }

    /// Those that were ever connected, in the order of their nodes.
    private static func pairs(of record: LabRecord) -> [Scenario.Pair] {
        Set(record.connections.map { Scenario.Pair($0.first, $0.second) }).sorted { ($0.first, $0.second) < ($1.first, $1.second) }
    }

    /// When a cable of the two was out, or the path between them broken.
    func breaks(_ pair: Scenario.Pair) -> [(from: Int64, until: Int64)] {
        var broken: Set<String> = []
        var since: Int64 = 0
        var spans: [(Int64, Int64)] = []
        for mark in record.marks.sorted(by: { $0.atMilliseconds < $1.atMilliseconds }) {
            let isPath = mark.other.map { Scenario.Pair(mark.node, $0) == pair } ?? false
            let isEnd = mark.node == pair.first || mark.node == pair.second
            let wasWhole = broken.isEmpty
            switch mark.kind {
            case .part where isPath: broken.insert("path")
            case .join where isPath: broken.remove("path")
            case .cut where isEnd: broken.insert("\(mark.node)")
            case .heal where isEnd: broken.remove("\(mark.node)")
            default: continue
            }
            if wasWhole, !broken.isEmpty { since = mark.atMilliseconds }
            if !wasWhole, broken.isEmpty { spans.append((since, mark.atMilliseconds)) }
        }
        return broken.isEmpty ? spans : spans + [(since, Int64(axis.endMilliseconds))]
    }

    var svg: String {
        let pairs = Self.pairs(of: record)
        let row = isNarrow ? 30.0 : 20
        let floor = 14 + row * Double(pairs.count)
        let hatch = isNarrow ? "hatch-links-tall" : "hatch-links-wide"
        var text =
            "<svg class=\"\(isNarrow ? "tall" : "wide")\" viewBox=\"0 0 \(Markup.number(axis.start + axis.length + 22)) \(Markup.number(floor + 22))\" role=\"img\" aria-label=\"Connections of \(pairs.count) pairs over time\">"
        text += Markup.hatch(hatch)
        for (index, tick) in axis.ticks.enumerated() where !isNarrow || index % 2 == 0 {
            text += "<path class=\"grid\" d=\"\(axis.path([(tick.milliseconds, 10), (tick.milliseconds, floor)]))\"/>"
            text +=
                "<text x=\"\(Markup.number(axis.along(tick.milliseconds)))\" y=\"\(Markup.number(floor + 16))\">\(Markup.escape(tick.label))</text>"
        }
        for (index, pair) in pairs.enumerated() {
            let middle = 14 + row * (Double(index) + (isNarrow ? 0.7 : 0.5))
            let label = Self.label(pair, record)
            let (x, y) = isNarrow ? (axis.start, middle - 9) : (axis.start - 10, middle + 4)
            text +=
                "<text x=\"\(Markup.number(x))\" y=\"\(Markup.number(y))\"\(isNarrow ? "" : " text-anchor=\"end\"")>\(Markup.escape(label))</text>"
            for (from, until) in breaks(pair) {
                text +=
                    "<rect class=\"cut\" fill=\"url(#\(hatch))\" \(axis.box(from, until, middle - 8, middle + 8))><title>\(Markup.escape(label)): path broken</title></rect>"
            }
            for connection in record.connections where Scenario.Pair(connection.first, connection.second) == pair {
                // Half of it in the color of each.
                let (from, until) = (connection.fromMilliseconds, connection.untilMilliseconds)
                text +=
                    "<g class=\"link\"><rect fill=\"\(Markup.color(pair.first))\" \(axis.box(from, until, middle - 3, middle))/><rect fill=\"\(Markup.color(pair.second))\" \(axis.box(from, until, middle, middle + 3))/><title>\(Markup.escape(label)): connected from \(Markup.escape(record.moment(from))) to \(Markup.escape(record.moment(until)))</title></g>"
            }
        }
        return text + "</svg>"
    }
}
