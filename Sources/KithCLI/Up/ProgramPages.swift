#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

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
            guard let start = UnsafeMutableRawPointer(bitPattern: range.lowerBound) else { continue }
            madvise(start, Int(range.upperBound - range.lowerBound), MADV_DONTNEED)
        }
    }

    /// The addresses of code, by proc_pid_maps(5). What can be read alone is left out: the linker has written addresses into some of it.
    static func ranges() -> [Range<UInt>] {
        guard let file = fopen("/proc/self/maps", "r") else { return [] }
        defer { fclose(file) }
        var ranges: [Range<UInt>] = []
        var line = [CChar](repeating: 0, count: 4_352)
        while fgets(&line, Int32(line.count), file) != nil {
            let fields = line.prefix { $0 != 0 }.split(separator: CChar(UInt8(ascii: " ")))
            guard fields.count > 5, fields[5].first == CChar(UInt8(ascii: "/")) else { continue }
            let permissions = String(decoding: fields[1].map(UInt8.init(bitPattern:)), as: UTF8.self)
            let bounds = String(decoding: fields[0].map(UInt8.init(bitPattern:)), as: UTF8.self).split(separator: "-")
            guard permissions == "r-xp", bounds.count == 2, let start = UInt(bounds[0], radix: 16),
                let end = UInt(bounds[1], radix: 16), start < end
            else { continue }
            ranges.append(start..<end)
        }
        return ranges
    }
}
#endif
