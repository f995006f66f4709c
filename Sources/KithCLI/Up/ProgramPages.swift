#if os(Linux)
import Foundation

/// The code of the program and of its libraries that is mapped into memory.
///
/// Starting and pairing touch most of the code, and what was touched counts as used for as long as the process runs. A node that waits for
/// peers needs little of it.
enum ProgramPages {
    /// How long a node has run before most of its code is given back, and how long it takes until that is done again.
    static let pausesSeconds: [Int64] = [5, 55, 600]

    /// Gives the code back now, and from time to time, until the task is cancelled.
    static func run() async {
        var pauses = pausesSeconds[...]
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(pauses.count > 1 ? pauses.removeFirst() : pauses[pauses.startIndex]))
            giveBack()
        }
    }

    /// Unmaps all pages of code. They stay in the system's cache, and come back when they are touched: see MADV_DONTNEED in madvise(2), of a
    /// private mapping of a file that nothing was written to.
    static func giveBack() {
        for range in ranges() {
            madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), Int(range.upperBound - range.lowerBound), MADV_DONTNEED)
        }
    }

    /// The addresses of code, by proc_pid_maps(5). What can be read alone is left out: the linker has written addresses into some of it.
    static func ranges() -> [Range<UInt>] {
        guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else { return [] }
        return maps.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 5, fields[1] == "r-xp", fields[5].hasPrefix("/") else { return nil }
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            return bounds.count == 2 && bounds[0] < bounds[1] ? bounds[0]..<bounds[1] : nil
        }
    }
}
#endif
