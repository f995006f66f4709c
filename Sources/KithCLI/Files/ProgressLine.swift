/// What is going on, or a number that grows, on standard error while a person waits; nothing where that is no terminal.
struct ProgressLine: Sendable {
    private let noun: String

    init(_ noun: String = "") {
        self.noun = noun
    }

    @Sendable func show(_ count: Int) { say("\(count) \(noun)") }

    /// What goes on while there is nothing to count.
    func say(_ words: String) {
        guard Console.error.isTerminal else { return }
        try? Console.error.write("\r\u{1B}[K\(words) ")
    }

    /// Makes room for what is said next.
    func clear() {
        guard Console.error.isTerminal else { return }
        try? Console.error.write("\r\u{1B}[K")
    }
}
