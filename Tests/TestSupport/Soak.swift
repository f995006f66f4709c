import Foundation

/// How many random cases a test judges: a few by default; `KITH_SOAK`, which `make soak` sets, asks for many.
package enum Soak {
    private static let asked = ProcessInfo.processInfo.environment["KITH_SOAK"]

    package static let isAsked = asked != nil

    /// The seed of the first case: `KITH_SEED`, or 1.
    package static let firstSeed = ProcessInfo.processInfo.environment["KITH_SEED"].flatMap(UInt64.init) ?? 1

    package static func count(_ usual: Int, soaking: Int) -> Int { isAsked ? soaking : usual }

    /// For tests of which `KITH_SOAK` says the number of cases: `KITH_SOAK=1000000` for a night.
    package static func count(_ usual: Int) -> Int { asked.flatMap { Int($0) } ?? usual }
}
