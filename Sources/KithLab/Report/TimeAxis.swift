/// How moments of a run lie on paper: along the page, or down it for narrow screens.
struct TimeAxis {
    let record: LabRecord
    let isVertical: Bool
    /// Where time begins, and how long it is, in points.
    let start: Double
    let length: Double

    var endMilliseconds: Double { Double(max(record.endedMilliseconds, record.takesMilliseconds, 1)) }

    func along(_ milliseconds: Int64) -> Double { start + length * min(1, max(0, Double(milliseconds) / endMilliseconds)) }

    /// A point of the page: at a moment, and so far across.
    func point(_ milliseconds: Int64, _ across: Double) -> (x: Double, y: Double) {
        isVertical ? (across, along(milliseconds)) : (along(milliseconds), across)
    }

    func path(_ points: [(Int64, Double)]) -> String {
        points.enumerated().map { index, entry in
            let point = point(entry.0, entry.1)
            return "\(index == 0 ? "M" : "L")\(Markup.number(point.x)) \(Markup.number(point.y))"
        }.joined()
    }

    /// A box from one moment to another, as attributes.
    func box(_ from: Int64, _ until: Int64, _ low: Double, _ high: Double) -> String {
        let (a, b) = (point(from, low), point(until, high))
        return
            "x=\"\(Markup.number(a.x))\" y=\"\(Markup.number(a.y))\" width=\"\(Markup.number(max(0, b.x - a.x)))\" height=\"\(Markup.number(max(0, b.y - a.y)))\""
    }

    /// Moments worth a line, in the scenario's own time, with what is written there.
    var ticks: [(milliseconds: Int64, label: String)] {
        let steps: [Int64] = [
            1, 2, 5, 10, 30, 60, 300, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000,
        ].map { $0 * 1_000 }
        let count: Int64 = isVertical ? 14 : 9
        let step = steps.first { record.lastsMilliseconds / $0 <= count } ?? 7_776_000_000
        return stride(from: 0, through: record.lastsMilliseconds, by: Int64.Stride(step)).map { moment in
            let run = Int64(Double(moment) * Double(record.takesMilliseconds) / Double(max(1, record.lastsMilliseconds)))
            return (run, label(moment, step))
        }
    }

    private func label(_ moment: Int64, _ step: Int64) -> String {
        if step % 86_400_000 == 0 { return "day \(moment / 86_400_000 + 1)" }
        if step % 3_600_000 == 0 {
            let hour = moment / 3_600_000 % 24
            return hour == 0 ? "day \(moment / 86_400_000 + 1)" : "\(hour):00"
        }
        return moment == 0 ? "0" : Quantity.span(Double(moment))
    }
}
