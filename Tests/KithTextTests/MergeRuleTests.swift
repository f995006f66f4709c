import KithCausality
import Testing

@testable import KithText

/// Risk: another order of concurrent insertions than the one everyone has agreed on.
@Suite struct MergeRuleTests {
    static func failures(_ name: String) throws -> (count: Int, failed: [Int]) {
        let cases = try ExportedCase.all("vectors/\(name)")
        let failed = try cases.indices.filter { index in
            var document = TextDocument()
            let outcome = try document.merge(cases[index].changes)
            return !outcome.rejected.isEmpty || !document.text.string.utf8.elementsEqual(cases[index].expected.utf8)
        }
        return (cases.count, failed)
    }

    @Test func `the fugue max vectors of diamond types all hold`() throws {
        let (count, failed) = try Self.failures("conformance-fuguemax-dt")
        #expect(count == 1_000)
        #expect(failed == [])
    }

    @Test func `the vectors with Unicode and with cases that tell fugue apart all hold`() throws {
        let (count, failed) = try Self.failures("fuguemax-own")
        #expect(count == 2_000)
        #expect(failed == [])
    }

    @Test func `the vectors of plain fugue fail in exactly the one case that differs`() throws {
        let (count, failed) = try Self.failures("conformance-fugue-reference")
        #expect(count == 1_000)
        #expect(failed == [621])
    }

    @Test func `the smallest case that tells fugue max from fugue`() throws {
        let changes = [
            TextChange(dot: dot(1, 1), parents: [], operations: [.insert("C", at: 0)]),
            TextChange(dot: dot(2, 1), parents: [], operations: [.insert("x", at: 0)]),
            TextChange(dot: dot(2, 2), parents: [dot(1, 1), dot(2, 1)], operations: [.insert("B", at: 2)]),
            TextChange(dot: dot(0, 1), parents: [dot(1, 1), dot(2, 1)], operations: [.insert("A", at: 1)]),
            TextChange(dot: dot(2, 3), parents: [dot(2, 2)], operations: [.insert("E", at: 1)]),
            TextChange(dot: dot(1, 2), parents: [dot(1, 1)], operations: [.insert("y", at: 1)]),
        ]
        #expect(NaiveWalker.text(changes, .fugueMax) == "CyAExB")
        #expect(NaiveWalker.text(changes, .fugue) == "CAyExB")
        #expect(TreeOracle.text(changes) == "CyAExB")
        var document = TextDocument()
        _ = try document.merge(changes)
        #expect(document.text.string == "CyAExB")
    }
}
