import Foundation

/// The figures of one quantity.
struct Sample: Codable {
    var values: [Double]

    var median: Double { quantile(0.5) }
    var spread: Double { median > 0 ? (quantile(0.75) - quantile(0.25)) / median : 0 }

    func quantile(_ q: Double) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .nan }
        return sorted[min(sorted.count - 1, Int(q * Double(sorted.count)))]
    }
}

/// One line of the table.
struct Line: Codable {
    var name: String
    var work: String
    var ours: String
    var limit: String
    /// Ours against the limit; lower is better.
    var ratio: Double?
    var goal: String
}

func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return start.duration(to: .now) / .seconds(1)
}

/// Processor time of this process, which other work on the machine disturbs least.
func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
    let start = clock()
    try body()
    return Double(clock() - start) / Double(CLOCKS_PER_SEC)
}

func format(_ seconds: Double) -> String {
    seconds < 0.001
        ? String(format: "%.3f ms", seconds * 1_000)
        : seconds < 1 ? String(format: "%.1f ms", seconds * 1_000) : String(format: "%.2f s", seconds)
}

/// Runs both alternately, so that what else the machine does meets both.
func compare(_ rounds: Int, _ ours: () throws -> Double, _ limit: () throws -> Double) rethrows -> (
    ours: Sample, limit: Sample, ratio: Double
) {
    var a: [Double] = []
    var b: [Double] = []
    for _ in 0..<rounds {
        b.append(try limit())
        a.append(try ours())
    }
    let ratios = Sample(values: zip(a, b).map { $0 / $1 })
    return (Sample(values: a), Sample(values: b), ratios.median)
}
