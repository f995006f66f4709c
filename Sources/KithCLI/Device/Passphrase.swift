import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A passphrase from the person at the keyboard, or from the first line of standard input.
enum Passphrase {
    /// - Parameter isNew: whether a person is to type it twice.
    static func read(isNew: Bool) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { return readLine() ?? "" }
        let passphrase = try ask("Passphrase: ")
        if isNew, try ask("The same again: ") != passphrase { throw CommandFailure(.data, "The two passphrases differ.") }
        return passphrase
    }

    /// Asks on the terminal, which does not show what is typed.
    private static func ask(_ question: String) throws -> String {
        try Console.error.write(question)
        var shown = termios()
        tcgetattr(STDIN_FILENO, &shown)
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        use(hidden)
        defer { use(shown) }
        let line = Interruption.cleaningUp({ [shown] in use(shown) }) { readLine() ?? "" }
        try Console.error.write("\n")
        return line
    }

    private static func use(_ terminal: termios) {
        var terminal = terminal
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal)
    }
}
