/// How many commits each node still lacked, over time.
struct ConvergenceChart {
    let record: LabRecord
    let axis: TimeAxis
    private let height = 150.0

    init(_ record: LabRecord, isVertical: Bool) {
        self.record = record
        axis =
            isVertical
            ? TimeAxis(record: record, isVertical: false, start: 30, length: 350)
            : TimeAxis(record: record, isVertical: false, start: 108, length: 1_060)
    }

    /// At each moment at which something changed: what each node lacks.
    var steps: [(atMilliseconds: Int64, missing: [Int])] {
        var changes: [(Int64, Int, Int)] = []
        for commit in record.commits {
            for node in record.nodes.indices where node != commit.node { changes.append((commit.atMilliseconds, node, 1)) }
            for arrival in commit.arrivals { changes.append((max(arrival.atMilliseconds, commit.atMilliseconds), arrival.node, -1)) }
        }
        changes.sort { ($0.0, $0.2) < ($1.0, $1.2) }
        var missing = [Int](repeating: 0, count: record.nodes.count)
        var steps: [(Int64, [Int])] = [(0, missing)]
        for (at, node, by) in changes {
            missing[node] += by
            if steps[steps.count - 1].0 == at { steps[steps.count - 1].1 = missing } else { steps.append((at, missing)) }
        }
        return steps + [(Int64(axis.endMilliseconds), missing)]
    }

    var svg: String {
        let steps = steps
        let most = max(1, steps.map { $0.1.reduce(0, +) }.max() ?? 1)
        let width = axis.start + axis.length + 22
        let floor = height + 14
        func y(_ count: Int) -> Double { floor - height * Double(count) / Double(most) }
        var text =
            "<svg class=\"\(axis.length < 500 ? "tall" : "wide")\" viewBox=\"0 0 \(Markup.number(width)) \(Markup.number(floor + 22))\" role=\"img\" aria-label=\"Commits that nodes still lacked, over time; \(most) at most\">"
        for (index, tick) in axis.ticks.enumerated() where axis.length > 500 || index % 2 == 0 {
            text += "<path class=\"grid\" d=\"\(axis.path([(tick.milliseconds, 14), (tick.milliseconds, floor)]))\"/>"
            text +=
                "<text x=\"\(Markup.number(axis.along(tick.milliseconds)))\" y=\"\(Markup.number(floor + 16))\">\(Markup.escape(tick.label))</text>"
        }
        text +=
            "<text x=\"\(Markup.number(axis.start - 6))\" y=\"20\" text-anchor=\"end\">\(most)</text><text x=\"\(Markup.number(axis.start - 6))\" y=\"\(Markup.number(floor))\" text-anchor=\"end\">0</text>"
        for node in record.nodes.indices {
            // Stacked, in steps: what holds until the next change.
            var upper: [(Int64, Double)] = []
            var lower: [(Int64, Double)] = []
            for (index, step) in steps.enumerated() {
                let below = step.missing[..<node].reduce(0, +)
                let until = index + 1 < steps.count ? steps[index + 1].atMilliseconds : step.atMilliseconds
                upper += [(step.atMilliseconds, y(below + step.missing[node])), (until, y(below + step.missing[node]))]
                lower += [(step.atMilliseconds, y(below)), (until, y(below))]
            }
            text +=
                "<path fill=\"\(Markup.color(node))\" opacity=\".8\" d=\"\(axis.path(upper + lower.reversed()))Z\"><title>\(Markup.escape(record.nodes[node].name))</title></path>"
        }
        if let agreed = record.convergedMilliseconds {
            text += "<path class=\"agreed\" d=\"\(axis.path([(agreed, 14), (agreed, floor)]))\"/>"
        }
        return text + "</svg>"
    }
}

/// How long commits took to arrive; each bar is twice as long a time as the one before.
struct LatencyChart {
    let latencies: [Int64]

    private static let firstMilliseconds: Int64 = 50

    /// The upper ends of the bars, and how many arrivals lie below each and above the one before.
    var bars: [(untilMilliseconds: Int64, count: Int)] {
        guard let longest = latencies.last else { return [] }
        var bars: [(Int64, Int)] = []
        var until = Self.firstMilliseconds
        var index = 0
        while bars.isEmpty || index < latencies.count {
            let begin = index
            while index < latencies.count, latencies[index] <= until { index += 1 }
            bars.append((until, index - begin))
            if until > longest { break }
            until *= 2
        }
        return bars
    }

    func share(_ percent: Int) -> Int64 {
        latencies.isEmpty ? 0 : latencies[min(latencies.count - 1, latencies.count * percent / 100)]
    }

    var svg: String {
        let bars = bars
        let most = Double(max(1, bars.map(\.count).max() ?? 1))
        let (width, height) = (420.0, 150.0)
        let step = width / Double(max(1, bars.count))
        var text = "<svg viewBox=\"0 0 420 186\" role=\"img\" aria-label=\"Distribution of the times to arrive\">"
        for (index, bar) in bars.enumerated() {
            let tall = height * Double(bar.count) / most
            let x = step * Double(index)
            text +=
                "<rect x=\"\(Markup.number(x + 1.5))\" y=\"\(Markup.number(14 + height - tall))\" width=\"\(Markup.number(step - 3))\" height=\"\(Markup.number(tall))\" rx=\"2\" fill=\"var(--n0)\"><title>\(bar.count) within \(Quantity.span(Double(bar.untilMilliseconds)))</title></rect>"
            if bar.count > 0 {
                text +=
                    "<text x=\"\(Markup.number(x + step / 2))\" y=\"\(Markup.number(10 + height - tall))\" text-anchor=\"middle\" style=\"font-size:10px\">\(bar.count)</text>"
            }
            if index % max(1, (bars.count + 6) / 7) == 0 {
                text +=
                    "<text x=\"\(Markup.number(x + step))\" y=\"180\" text-anchor=\"end\" style=\"font-size:11px\">\u{2264} \(Quantity.span(Double(bar.untilMilliseconds)))</text>"
            }
        }
        return text + "<path class=\"grid\" d=\"M0 164.5H420\"/></svg>"
    }
}
