import KithTesting

extension KithSimulator {
    /// Of the schema that tests share: made once, for that takes as long as a short run.
    static var standard: KithSimulator { get throws { try ofStandardSchema.get() } }
    private static let ofStandardSchema = Result { try KithSimulator(.standard) }

    /// Of that schema with journals, lists and positions.
    static var history: KithSimulator { get throws { try ofHistorySchema.get() } }
    private static let ofHistorySchema = Result { try KithSimulator(.history) }
}
