import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The whole screen of a terminal, and its keyboard, until it is given back (termios(3), and the sequences of xterm).
final class FullScreen {
    private let console: Console
    private let before: termios
    private var shown: [String] = []

    /// `nil` where input and output are no terminal, or one that cannot place its cursor.
    init?(_ console: Console, environment: [String: String] = ProcessInfo.processInfo.environment) {
        var settings = termios()
        guard console.isTerminal, StandardStreams.isInputTerminal, !["", "dumb"].contains(environment["TERM"] ?? ""),
            tcgetattr(STDIN_FILENO, &settings) == 0
        else { return nil }
        self.console = console
        before = settings
    }

    /// The size of the terminal now.
    var layout: ViewLayout { ViewLayout(columns: console.width ?? 80, rows: console.height ?? 24) }

    /// Takes the screen.
    func enter() throws(CommandFailure) {
        var raw = before
        cfmakeraw(&raw)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
        shown = []
        // The other screen; no cursor; what is too wide is cut off.
        try console.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J")
    }

    /// Gives it back as it was.
    func leave() {
        try? console.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        var settings = before
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }

    /// Shows these lines, and writes only those that changed.
    func show(_ lines: [ScreenLine]) throws(CommandFailure) {
        let texts = lines.map { $0.text(on: console) }
        var output = ""
        if texts.count != shown.count {
            output += "\u{1B}[2J"
            shown = []
        }
        for (row, text) in texts.enumerated() where shown.isEmpty || shown[row] != text {
            output += "\u{1B}[\(row + 1);1H\u{1B}[2K\(text)"
        }
        shown = texts
        if !output.isEmpty { try console.write(output) }
    }

    /// Draws all of it the next time.
    func forget() { shown = [] }
}
