import Testing

@testable import KithLab

@Suite("A check that was not made is not called passed")
struct CheckListTests {
    private func outcomes(
        isConverged: Bool = true, unreadable: [String] = [], found: [Finding.Rule] = []
    ) -> [LabRecord.Check.Outcome] {
        checks(isConverged: isConverged, unreadable: unreadable, found: found).map(\.outcome)
    }

    private func checks(isConverged: Bool = true, unreadable: [String] = [], found: [Finding.Rule] = []) -> [LabRecord.Check] {
        CheckList(nodes: 2, acknowledgedWrites: 3, isConverged: isConverged, unreadable: unreadable)
            .checks(found.map { Finding(rule: $0, sentence: "") })
    }

    @Test func `all checks are made if the nodes know the same`() {
        #expect(outcomes() == [.passed, .passed, .passed, .passed, .passed, .passed])
        #expect(checks().allSatisfy { $0.why == nil })
    }

    @Test func `what nodes show is not checked while they know different things`() {
        let found = checks(isConverged: false, found: [.noConvergence])
        #expect(found.map(\.outcome) == [.broken, .notChecked, .notChecked, .notChecked, .passed, .passed])
        #expect(found.map { $0.why != nil } == [false, true, true, true, false, false])
    }

    @Test func `a store that cannot be read is not compared`() {
        #expect(
            outcomes(unreadable: ["a"], found: [.unsoundStore]) == [.passed, .notChecked, .passed, .passed, .broken, .passed])
        #expect(
            outcomes(unreadable: ["a", "b"], found: [.unsoundStore])
                == [.passed, .notChecked, .notChecked, .notChecked, .broken, .passed])
    }

    @Test func `what is safe is checked only where something was said`() {
        func last(_ statements: Int?, _ losses: Int, _ found: [Finding.Rule] = []) -> [LabRecord.Check.Outcome] {
            var list = CheckList(nodes: 2, acknowledgedWrites: 3, isConverged: true, unreadable: [])
            (list.safetyStatements, list.losses) = (statements, losses)
            return list.checks(found.map { Finding(rule: $0, sentence: "") }).dropFirst(6).map(\.outcome)
        }
        #expect(last(nil, 0) == [])
        #expect(last(0, 0) == [.notChecked])
        #expect(last(7, 1) == [.passed, .passed])
        #expect(last(7, 2, [.falselySafe, .lossUnnoticed]) == [.broken, .broken])
    }

    @Test func `what was found is broken whatever else could not be checked`() {
        #expect(
            outcomes(isConverged: false, unreadable: ["a"], found: [.nodesDiffer, .writeLost, .neverWritten, .nodeFailed])
                == [.passed, .broken, .broken, .broken, .passed, .broken])
    }
}
