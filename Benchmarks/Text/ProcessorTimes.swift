import Foundation
import KithText

/// How long some rounds of the same work took: by the clock, and as processor time, which other work on the machine disturbs least.
struct ProcessorTimes: CustomStringConvertible {
    private(set) var wall = Sample(values: [])
    private(set) var cpu = Sample(values: [])

    /// Times `body`, and stops the program if it does not end in the text of `trace`.
    init(_ rounds: Int, _ trace: Trace, _ body: () throws -> TextDocument) rethrows {
        for _ in 0..<rounds {
            let (start, processor) = (ContinuousClock.now, clock())
            let document = try body()
            cpu.values.append(Double(clock() - processor) / Double(CLOCKS_PER_SEC))
            wall.values.append(start.duration(to: .now) / .seconds(1))
            precondition(document.text == trace.end, "\(trace.name) does not end in its text")
        }
    }

    /// The median by the clock with its spread, and the least processor time.
    var description: String {
        "\(format(wall.median)) ± \(Int((wall.spread * 50).rounded())) %, processor \(format(cpu.quantile(0)))"
    }
}
