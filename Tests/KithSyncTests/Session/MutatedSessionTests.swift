import Foundation
import KithCausality
import TestSupport
import Testing

@testable import KithSync

/// Risk: a frame that is nearly one ends the program, keeps a session busy for ever, fills memory, or makes the store take what it must not.
///
/// As `MutatedMemberTests`, in memory and without SQLite, so that a million frames of each kind take minutes: 20 members send one store
/// frames of one kind with a few bytes changed, beside an honest member. What the store is asked to take is checked, and not kept. The long
/// run has a limit of memory, so nothing else is to run in its process.
@Suite struct MutatedSessionTests {
    enum Kind: CaseIterable {
        case hello, hashedHello, allHeads, newestHeads, restOfHeads, proofs, slice, listing, texts, prelude, compressed, acknowledge, want
        case ping, pong, differences, digest, digestQuestion, digestParts, digestRows, attachment, household, goodbye
    }

    private static let memberCount = 20
    private static let framesBetweenExchanges = 100
    private static let memoryBefore = peakBytes

    @Test(arguments: Kind.allCases.filter { !$0.isOfComparison })
    func `twenty members that send mutated frames leave an honest one its exchange`(kind: Kind) {
        send(kind)
    }

    @Test(arguments: Kind.allCases.filter(\.isOfComparison))
    func `twenty members that send mutated frames while they compare leave an honest one its exchange`(kind: Kind) {
        send(kind)
    }

    private func send(_ kind: Kind) {
        let before = Self.memoryBefore
        var random = SplitMix64(seed: Soak.firstSeed)
        var home = MutatedHome(kind, memberCount: Self.memberCount)
        let rounds = Soak.count(300, soaking: 1_000_000)
        for round in 0..<rounds {
            home.receive(from: round % Self.memberCount, &random)
            if round % Self.framesBetweenExchanges == 0 { home.exchange(&random) }
        }
        home.exchange(&random)
        #expect(home.problems == [])
        #expect(home.refusedCount > 0 && home.understoodCount > 0 && (home.comparedCount > 0) == kind.isOfComparison)
        let peak = Self.peakBytes
        if Soak.isAsked { #expect(peak - before < 50 << 20, "\((peak - before) >> 20) MiB") }
        print(
            """
            \(kind): \(rounds) frames, \(home.understoodCount) could be read, \(home.appliedCount) slices to take, \(home.comparedCount) \
            comparisons, \
            \(home.refusedCount) sessions ended; memory \(before >> 20) to \(peak >> 20) MiB at most
            """)
    }

    /// The most memory that this process has had.
    private static var peakBytes: Int {
        let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.split(separator: "\n") ?? []
        let digits = lines.first { $0.hasPrefix("VmHWM:") }?.filter(\.isNumber)
        return (digits.flatMap { Int($0) } ?? 0) << 10
    }
}
