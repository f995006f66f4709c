import TestSupport
import Testing

/// `KITH_SEED=7` begins with that seed, `KITH_SOAK=1000` judges so many.
@Suite("Folders on two machines, written by everybody and killed at any point, lose something or stay apart")
struct FolderHistoryTests {
    /// In 1625 a pass is killed after it has renamed a file that had no id yet.
    private static let seeds = [1625] + (0..<UInt64(min(3_000, Soak.count(3)))).map { Soak.firstSeed &+ $0 }

    /// In 133 a pass is killed after it has noted a text, and before it has attached its pictures.
    private static let pictureSeeds = [133] + seeds.dropFirst()

    private func run(seed: UInt64, operations: Int, opensLong: Bool = false) throws {
        let history = try FolderHistory(seed: seed, opensLong: opensLong)
        for _ in 0..<operations { try history.step() }
        try history.settle()
        try history.checkEquality()
        try history.checkWords()
    }

    @Test("nothing that was written is lost, and all four sides are equal at the end", arguments: seeds)
    func short(seed: UInt64) throws {
        try run(seed: seed, operations: 150)
    }

    @Test("nor with pictures, which each file shows from where it lies", arguments: pictureSeeds)
    func pictures(seed: UInt64) throws {
        let history = try FolderHistory(seed: seed, attaches: true)
        for _ in 0..<150 { try history.step() }
        try history.settle()
        try history.checkEquality()
        try history.checkWords()
        try history.checkPictures()
    }

    #if os(Linux)
    @Test("nor with editors that have a file open for long and do not read it again", arguments: seeds)
    func longOpen(seed: UInt64) throws {
        try run(seed: seed, operations: 150, opensLong: true)
    }
    #endif

    @Test("nor after ten thousand operations", .enabled(if: Soak.isAsked), arguments: [1, 2] as [UInt64])
    func long(seed: UInt64) throws {
        try run(seed: seed, operations: 10_000)
    }

    @Test("a history is another one the second time")
    func repeated() throws {
        let histories = try (0..<2).map { _ in
            let history = try FolderHistory(seed: 5)
            for _ in 0..<100 { try history.step() }
            return try history.everything()
        }
        #expect(histories[0] == histories[1])
    }
}
