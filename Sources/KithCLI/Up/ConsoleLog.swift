import Logging

/// Log lines on standard error, which do not disturb the status line.
struct ConsoleLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    private let display: StatusDisplay

    /// A logger that is quiet unless something is wrong or `isVerbose`.
    static func logger(isVerbose: Bool, _ display: StatusDisplay) -> Logger {
        Logger(label: "kith") { _ in ConsoleLog(logLevel: isVerbose ? .debug : .error, display: display) }
    }

    private init(logLevel: Logger.Level, display: StatusDisplay) {
        self.logLevel = logLevel
        self.display = display
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        let text = (["\(event.level):", "\(event.message)"] + fields.map { "\($0.key)=\($0.value)" }).joined(separator: " ")
        display.show(line: "kith: \(text)", on: .error)
    }
}
