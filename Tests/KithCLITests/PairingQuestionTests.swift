import Testing

@testable import KithCLI
@testable import KithSync

/// Risk: an answer counts for digits that nobody compared.
@Suite struct PairingQuestionTests {
    private static func code(_ last: UInt8) -> PairingCode { PairingCode([0, 0, 0, 0, 0, 0, 0, last]) }

    @Test func `a yes that was typed for other digits does not count for those that replaced them`() {
        let (first, second) = (Self.code(1), Self.code(2))
        var question = PairingQuestion()
        question.show(first)
        question.withdraw()
        #expect(question.take("yes") == .nothingToCompare)
        question.show(second)
        for line in ["yes", "Y", "12", ""] {
            guard case .askAgain(let words) = question.take(line) else {
                Issue.record("\(line) was taken")
                continue
            }
            #expect(words.contains("six digits"))
        }
        #expect(question.take("000 002") == .answer(isSame: true, to: second))
        #expect(question.take("000 002") == .nothingToCompare)
    }

    @Test func `digits of another attempt are a no`() {
        var question = PairingQuestion()
        question.show(Self.code(1))
        question.show(Self.code(2))
        #expect(question.take("000001") == .answer(isSame: false, to: Self.code(2)))
        question.show(Self.code(3))
        #expect(question.take("No") == .answer(isSame: false, to: Self.code(3)))
    }

    @Test func `the first digits are answered by yes, no or themselves`() {
        for (line, isSame) in [("yes", true), (" Y ", true), ("n", false), ("000 001", true), ("000002", false)] {
            var question = PairingQuestion()
            question.show(Self.code(1))
            #expect(question.take(line) == .answer(isSame: isSame, to: Self.code(1)), "\(line)")
        }
    }
}
