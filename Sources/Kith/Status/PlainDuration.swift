/// Lengths of time as people read them.
package enum PlainDuration {
    /// `45 s`, `12 min`, `20 h`, `4 days`: rounded, in the largest unit of which there are enough.
    package static func text(milliseconds: Int64) -> String {
        let seconds = milliseconds.magnitude / 1_000 + (milliseconds.magnitude % 1_000 >= 500 ? 1 : 0)
        func rounded(_ unit: UInt64) -> UInt64 { (seconds + unit / 2) / unit }
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(rounded(60)) min"
        case ..<259_200: "\(rounded(3_600)) h"
        default: "\(rounded(86_400)) days"
        }
    }

    /// `20 h ahead of`, `3 min behind`: how a clock is off that is ahead by this much.
    package static func offset(milliseconds: Int64) -> String {
        "\(text(milliseconds: milliseconds)) \(milliseconds > 0 ? "ahead of" : "behind")"
    }
}
