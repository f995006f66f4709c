/// What is checked at the end of a run, and which of it could not be.
struct CheckList {
    let nodes: Int
    let acknowledgedWrites: Int
    /// Whether the nodes came to know the same.
    let isConverged: Bool
    /// The nodes whose stores cannot be read.
    let unreadable: [String]
    /// How often a node said that something is safe on another one; `nil` where no bytes were there to be counted.
    var safetyStatements: Int?
    /// How many stores were taken away.
    var losses = 0

    /// - Parameter findings: all that was found.
    func checks(_ findings: [Finding]) -> [LabRecord.Check] {
        func check(_ sentence: String, _ rules: Finding.Rule..., unless obstacle: String? = nil) -> LabRecord.Check {
            if findings.contains(where: { rules.contains($0.rule) }) { return .init(sentence: sentence, outcome: .broken) }
            return .init(sentence: sentence, outcome: obstacle == nil ? .passed : .notChecked, why: obstacle)
        }
        var checks = [
            check("All \(nodes) nodes know the same", .noConvergence),
            check("What they know, they show and keep alike; digests are equal", .nodesDiffer, unless: whyNotCompared),
            check(
                "\(acknowledgedWrites) acknowledged writes are shown, kept, or were overwritten by someone who saw them", .writeLost,
                unless: whyNotJudged),
            check(
                "Nothing came back from the dead, nothing is shown that nobody wrote", .cameBack, .neverWritten, unless: whyNotJudged),
            check("The records of every store agree with each other", .unsoundStore),
            check("No node stopped by itself", .nodeFailed),
        ]
        if let safetyStatements {
            let sentence = "\(safetyStatements) times something was said to be safe on another node; the bytes of attachments were there"
            checks.append(check(sentence, .falselySafe, unless: safetyStatements == 0 ? "no node said so" : nil))
        }
        if losses > 0 {
            let sentence = losses == 1 ? "The store that was gone was told of" : "\(losses) stores that were gone were told of"
            checks.append(check("\(sentence), by every command, with what can be done", .lossUnnoticed))
        }
        return checks
    }

    private var whyNotCompared: String? {
        if !isConverged { return Self.stillDifferent }
        return unreadable.isEmpty ? nil : "these stores cannot be read: \(unreadable.joined(separator: ", "))"
    }

    /// Nodes that know the same show the same, or that is a finding; so one store that can be read is enough.
    private var whyNotJudged: String? {
        if !isConverged { return Self.stillDifferent }
        return unreadable.count < nodes ? nil : "no store can be read"
    }

    /// Who does not know a write yet cannot show it, and has lost nothing.
    private static let stillDifferent = "the nodes did not come to know the same"
}
