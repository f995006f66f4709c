import Foundation

/// How many random cases a test judges: few by default, `KITH_SOAK=1000000` for a night.
enum Soak {
    static func count(_ ordinary: Int) -> Int {
        ProcessInfo.processInfo.environment["KITH_SOAK"].flatMap { Int($0) } ?? ordinary
    }
}
