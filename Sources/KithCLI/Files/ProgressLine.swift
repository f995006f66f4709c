/// A number that grows on standard error while a person waits; nothing where that is no terminal.
struct ProgressLine: Sendable {
    private let noun: String

    init(_ noun: String) {
        self.noun = noun
    }

    @Sendable func show(_ count: Int) {
        guard Console.error.isTerminal else { return }
        try? Console.error.write("\r\(count) \(noun) ")
    }

    /// Makes room for what is said next.
    func clear() {
        guard Console.error.isTerminal else { return }
        try? Console.error.write("\r\u{1B}[K")
    }
}
