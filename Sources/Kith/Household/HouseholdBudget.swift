/// How much one session may make a node do about the household before the node has learned something from it.
struct HouseholdBudget: Sendable {
    /// Bytes that are answered: several times all that there can be to say.
    static let bytesMax = 32 << 20
    /// What a byte of records costs that told nothing new, in bytes that are answered: each record costs a signature to verify.
    static let vainRecordFactor = 8

    private var left = bytesMax

    /// The peer said `heard` bytes and gets `answered` bytes.
    /// - Returns: whether it may go on.
    mutating func spend(heard: Int, areRecords: Bool, answered: Int, hasLearned: Bool) -> Bool {
        if hasLearned { left = Self.bytesMax }
        left -= answered
        if areRecords, !hasLearned { left -= Self.vainRecordFactor * heard }
        return left >= 0
    }
}
