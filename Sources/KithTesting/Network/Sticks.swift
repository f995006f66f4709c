/// What lies on the sticks that go from machine to machine.
struct Sticks {
    /// A file that a node has written.
    struct File {
        let writer: Int
        /// For whom; `nil` for all others.
        let target: Int?
        /// Its writer's wall clock.
        let madeMilliseconds: Int64
        let frames: [[UInt8]]
    }

    /// Beyond so many files of a stick, the oldest are overwritten.
    private static let filesMax = 6

    private var files: [Int: [File]] = [:]
    private var random: SplitMix64

    init(seed: UInt64) {
        random = SplitMix64(seed: seed, .sticks)
    }

    /// A node puts a file on a stick, mostly in the place of the one that it made before for the same target.
    mutating func put(_ file: File, on stick: Int) {
        if random.chance(percent: 60) { files[stick]?.removeAll { $0.writer == file.writer && $0.target == file.target } }
        files[stick, default: []].append(file)
        if let count = files[stick]?.count, count > Self.filesMax { files[stick]?.removeFirst() }
    }

    /// The files of a stick as somebody reads them: in any order, some twice, some not to their end because the process dies.
    mutating func read(_ stick: Int) -> [(file: File, frameCount: Int)] {
        var readings: [(file: File, frameCount: Int)] = []
        for file in files[stick] ?? [] {
            let isPulled = random.chance(percent: 15)
            readings.append((file, isPulled ? random.int(in: 0...file.frames.count) : file.frames.count))
            if random.chance(percent: 15) { readings.append((file, file.frames.count)) }
        }
        for index in readings.indices.dropLast() { readings.swapAt(index, random.int(in: index...readings.count - 1)) }
        return readings
    }

    mutating func lose(_ stick: Int) { files[stick] = nil }
}
