/// Who wrote what when, when it arrived where, and what was broken meanwhile (Lamport's space-time diagram).
struct SpaceTimeDiagram {
    let record: LabRecord
    let axis: TimeAxis
    /// The ways of the commits, in their order.
    private let routes: [Route]
    private let spacing: Double
    private let first: Double

    init(_ record: LabRecord, isVertical: Bool) {
        self.record = record
        routes = record.commits.map { Route(of: $0, over: record.connections) }
        if isVertical {
            let length = max(520, min(2_400, Double(max(record.endedMilliseconds, record.takesMilliseconds)) / 1_000 * 11))
            axis = TimeAxis(record: record, isVertical: true, start: 34, length: length)
            spacing = min(96, 318 / Double(max(1, record.nodes.count)))
            first = 52 + spacing / 2
        } else {
            axis = TimeAxis(record: record, isVertical: false, start: 108, length: 1_060)
            spacing = record.nodes.count > 5 ? 58 : 76
            first = 40
        }
    }

    private func lane(_ node: Int) -> Double { first + spacing * Double(node) }
    /// Its own for each picture: one that is not displayed may not lend its patterns.
    private var hatch: String { axis.isVertical ? "hatch-tall" : "hatch-wide" }
    private var far: Double { lane(max(0, record.nodes.count - 1)) + 30 }

    var svg: String {
        let (width, height) = axis.isVertical ? (390.0, axis.start + axis.length + 20) : (1_190.0, far + 24)
        var parts = [
            "<svg class=\"\(axis.isVertical ? "tall" : "wide")\" viewBox=\"0 0 \(Markup.number(width)) \(Markup.number(height))\" role=\"img\" aria-label=\"Space-time diagram of \(record.nodes.count) nodes\">"
        ]
        parts.append(grid)
        for node in record.nodes.indices { parts.append(background(node)) }
        for (index, commit) in record.commits.enumerated() { parts.append(messages(index, commit)) }
        for node in record.nodes.indices { parts.append(line(node)) }
        for mark in record.marks { parts.append(glyph(mark)) }
        for (index, commit) in record.commits.enumerated() { parts.append(dot(index, commit)) }
        parts.append("</svg>")
        return parts.joined(separator: "\n")
    }

    private var grid: String {
        let low = axis.isVertical ? 46.0 : 14
        var text = Markup.hatch(hatch)
        text += "<rect class=\"settle\" \(axis.box(record.settledFromMilliseconds, Int64(axis.endMilliseconds), low, far))/>"
        for tick in axis.ticks {
            text += "<path class=\"grid\" d=\"\(axis.path([(tick.milliseconds, low), (tick.milliseconds, far)]))\"/>"
            let at = axis.point(tick.milliseconds, axis.isVertical ? 42 : far + 16)
            let anchor = axis.isVertical ? " text-anchor=\"end\"" : ""
            text +=
                "<text x=\"\(Markup.number(at.x))\" y=\"\(Markup.number(at.y + (axis.isVertical ? 4 : 0)))\"\(anchor)>\(Markup.escape(tick.label))</text>"
        }
        if let agreed = record.convergedMilliseconds {
            text +=
                "<path class=\"agreed\" d=\"\(axis.path([(agreed, low), (agreed, far)]))\"><title>All nodes know the same</title></path>"
        }
        return text
    }

    // MARK: Lanes

    /// From a mark of one kind to the next that ends it.
    private func spans(_ node: Int, _ from: Set<LabRecord.Mark.Kind>, _ until: Set<LabRecord.Mark.Kind>) -> [(Int64, Int64)] {
        var spans: [(Int64, Int64)] = []
        var start: Int64?
        for mark in record.marks where mark.node == node {
            if from.contains(mark.kind), start == nil { start = mark.atMilliseconds }
            if until.contains(mark.kind), let begun = start {
                spans.append((begun, mark.atMilliseconds))
                start = nil
            }
        }
        if let start { spans.append((start, Int64(axis.endMilliseconds))) }
        return spans
    }

    private func background(_ node: Int) -> String {
        let half = min(15, spacing * 0.36)
        let kinds: [(String, Set<LabRecord.Mark.Kind>, Set<LabRecord.Mark.Kind>, String)] = [
            ("cut", [.cut], [.heal], "cable pulled"), ("paused", [.pause], [.resume, .kill, .stop], "frozen"),
            ("full", [.fill], [.free], "disk full"),
        ]
        var text = ""
        for (style, from, until, words) in kinds {
            for (start, end) in spans(node, from, until) {
                text +=
                    "<rect class=\"\(style)\" fill=\"url(#\(hatch))\" \(axis.box(start, end, lane(node) - half, lane(node) + half)) rx=\"3\"><title>\(Markup.escape(record.nodes[node].name)): \(words)</title></rect>"
            }
        }
        return text
    }

    private func line(_ node: Int) -> String {
        let end = Int64(axis.endMilliseconds)
        var text = "<g data-lane=\"\(Markup.escape(record.nodes[node].name))\">"
        text += "<path class=\"down\" d=\"\(axis.path([(0, lane(node)), (end, lane(node))]))\"/>"
        for (start, stop) in spans(node, [.start], [.stop, .kill]) {
            text += "<path class=\"lane\" stroke=\"\(Markup.color(node))\" d=\"\(axis.path([(start, lane(node)), (stop, lane(node))]))\"/>"
        }
        let name = Markup.escape(record.nodes[node].name)
        if axis.isVertical {
            text +=
                "<text class=\"name\" x=\"\(Markup.number(lane(node)))\" y=\"16\" text-anchor=\"middle\" style=\"fill:\(Markup.color(node))\(record.nodes.count > 5 ? ";font-size:10px" : "")\">\(name)</text>"
        } else {
            text +=
                "<text class=\"name\" x=\"92\" y=\"\(Markup.number(lane(node) + 5))\" text-anchor=\"end\" style=\"fill:\(Markup.color(node))\">\(name)</text>"
        }
        return text + "</g>"
    }

    private func glyph(_ mark: LabRecord.Mark) -> String {
        func cross(_ point: (x: Double, y: Double), _ size: Double) -> String {
            let (x, y) = (point.x, point.y)
            return
                "M\(Markup.number(x - size)) \(Markup.number(y - size))L\(Markup.number(x + size)) \(Markup.number(y + size))M\(Markup.number(x - size)) \(Markup.number(y + size))L\(Markup.number(x + size)) \(Markup.number(y - size))"
        }
        let at = axis.point(mark.atMilliseconds, lane(mark.node))
        let title = "<title>\(Markup.escape(mark.text))</title>"
        switch mark.kind {
        case .kill, .lose: return "<path class=\"mark\" d=\"\(cross(at, 6))\">\(title)</path>"
        case .stop, .move, .recover:
            return
                "<path class=\"mark\" d=\"\(axis.path([(mark.atMilliseconds, lane(mark.node) - 7), (mark.atMilliseconds, lane(mark.node) + 7)]))\">\(title)</path>"
        case .clock:
            return
                "<g class=\"mark quiet\"><circle cx=\"\(Markup.number(at.x))\" cy=\"\(Markup.number(at.y))\" r=\"7\" fill=\"var(--card)\"/><path d=\"M\(Markup.number(at.x)) \(Markup.number(at.y - 4))v4h3\"/>\(title)</g>"
        case .part, .join, .link:
            let other = lane(mark.other ?? mark.node)
            return
                "<path class=\"mark quiet\" stroke-dasharray=\"\(mark.kind == .part ? "2 4" : "6 3")\" d=\"\(axis.path([(mark.atMilliseconds, lane(mark.node)), (mark.atMilliseconds, other)]))\">\(title)</path>"
        default: return ""
        }
    }

    // MARK: Commits

    private func messages(_ index: Int, _ commit: LabRecord.Commit) -> String {
        routes[index].hops.map { hop in
            let color = Markup.color(commit.node)
            // It waits where it is until there is a way on.
            let way = [
                (hop.heldFromMilliseconds, lane(hop.from)), (hop.openFromMilliseconds, lane(hop.from)),
                (hop.arrivedMilliseconds, lane(hop.to)),
            ]
            var text =
                "<path class=\"msg\" data-c=\"\(index)\" stroke=\"\(color)\"\(hop.isOpen ? "" : " stroke-dasharray=\"2 5\"") d=\"\(axis.path(way))\"/>"
            if hop.isMerge {
                let at = axis.point(hop.arrivedMilliseconds, lane(hop.to))
                text +=
                    "<path class=\"merge\" data-c=\"\(index)\" stroke=\"\(color)\" d=\"M\(Markup.number(at.x)) \(Markup.number(at.y - 5.5))l5.5 5.5l-5.5 5.5l-5.5 -5.5z\"/>"
            }
            return text
        }.joined()
    }

    private func dot(_ index: Int, _ commit: LabRecord.Commit) -> String {
        let at = axis.point(commit.atMilliseconds, lane(commit.node))
        return
            "<circle class=\"dot\" data-c=\"\(index)\" data-lane=\"\(commit.node)\" data-text=\"\(Markup.escape(words(index, commit)))\" cx=\"\(Markup.number(at.x))\" cy=\"\(Markup.number(at.y))\" r=\"4.6\" fill=\"\(Markup.color(commit.node))\"/>"
    }

    private func words(_ index: Int, _ commit: LabRecord.Commit) -> String {
        let name = record.nodes[commit.node].name
        var text = "\(name), \(record.moment(commit.atMilliseconds)), commit \(commit.sequence)"
        if let index = commit.write, let write = record.writes.first(where: { $0.index == index }) {
            text += write.kind == "delete" ? ": deletes \(write.note)" : ": \(write.kind) \u{201C}\(write.value)\u{201D} in \(write.note)"
        }
        if commit.arrivals.isEmpty { return text + ". It has reached nobody." }
        let arrivals = routes[index].hops.map { hop in
            let via = hop.from == commit.node ? "" : " by way of \(record.nodes[hop.from].name)"
            return
                "\(record.nodes[hop.to].name)\(via) within \(LabRecord.latency(hop.arrivedMilliseconds - commit.atMilliseconds))\(hop.isMerge ? " (merged)" : "")"
        }
        return text + ". It reached " + arrivals.joined(separator: ", ") + "."
    }
}

extension LabRecord {
    /// A moment of the run in the scenario's own time, for people.
    func moment(_ milliseconds: Int64) -> String {
        let scenario = Double(milliseconds) * Double(lastsMilliseconds) / Double(max(1, takesMilliseconds))
        return Quantity.moment(Int64(scenario), lasts: lastsMilliseconds)
    }
}
