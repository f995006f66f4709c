/// A promise that was broken in a run.
public struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which promise.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        /// A node shows exactly what follows from what its users wrote and what it knows.
        case wrongState
        /// What holds of many rows together does, as an ``Invariant`` says.
        case brokenInvariant
        /// A table that triggers of the app fill holds what they would have written for what is shown.
        case wrongFilledTable
        /// The values that lost are kept, and no others.
        case wrongAlternatives
        /// What a statement did to a row follows from what its user saw.
        case wrongEffect
        /// A name of a commit stands for one content.
        case dotReused
        /// A vector only names commits that were made.
        case vectorClaimsUnknown
        /// A vector never goes back.
        case vectorWentBack
        /// The timestamp of a commit is later than everything its author had seen.
        case clockWentBack
        /// After the network is whole again all nodes know the same within a bound of time.
        case noConvergence
        /// What was acknowledged to a user is known to somebody, unless the only disk that had it was replaced.
        case writeLost
        /// What was called durable survives a loss of power.
        case durableLost
        /// A new node that takes everything from another one shows the same.
        case wrongBootstrap
        /// An apply is one observation, and tells of every table whose rows it changed.
        case wrongObservation
        /// The journal of a table says what each transaction has made of its rows, and nothing else.
        case wrongHistory
        /// A live list that is made of its differences is what its query gets.
        case wrongList
        /// An undo restores what no later write has touched, and never loses what others have written.
        case wrongUndo
        /// Peers that keep the rules are never accused of breaking them.
        case unjustAccusation
        /// Whatever a member says, a row that was shown stays shown or is in the trash, and what it does not speak of stays as it was.
        case shownLost
        /// That a large part of a table goes by what others say is told.
        case lossUntold
        /// A store that was never copied or set back keeps its replica id, whatever its peers say.
        case identityLost
        /// Members that have heard of a revocation exchange nothing with the machine, and nothing of it gets in by another way.
        case revokedContent
        /// Whatever devices sign, all name the same members: a revocation gets through, and no machine is out that no member has put out.
        case wrongMembers
        /// Queues are bounded.
        case queueTooLong
        /// When all have caught up, nothing waits in a store, and it keeps no more than was written.
        case storeTooLarge
        /// The records of a store agree with each other.
        case unsoundStore
        /// A store does its work unless its disk is full.
        case storeFailed
        /// No promise: the script speaks of tables and columns that do not synchronise, or does with them what is not for their kind.
        case wrongScript
    }

    /// The promise that was broken.
    public let rule: Rule
    /// What was seen and what should have been.
    public let message: String
    /// What the app calls the invariant that is broken, if it has stated it itself.
    public let invariant: String?

    public init(_ rule: Rule, _ message: String) {
        self.init(rule, message, invariant: nil)
    }

    init(_ rule: Rule, _ message: String, invariant: String?) {
        self.rule = rule
        self.message = message
        self.invariant = invariant
    }

    public var description: String { "\(rule.rawValue): \(message)" }
}
