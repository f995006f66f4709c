import Foundation
import Kith
import KithFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A passphrase from the person at the keyboard, or from the first line of standard input.
enum Passphrase {
    /// One that something is sealed with, which a person types twice.
    static func readNew() throws -> String {
        let passphrase = try read()
        // Swift puts this character in the place of bytes that are not UTF-8: then other passphrases would open the file, too.
        if passphrase.contains("\u{FFFD}") {
            throw CommandFailure(.data, "The passphrase is not UTF-8. Set the terminal to UTF-8, or take another one.")
        }
        if isatty(STDIN_FILENO) == 1, try !ask("The same again: ").utf8.elementsEqual(passphrase.utf8) {
            throw CommandFailure(.data, "The two passphrases differ.")
        }
        return passphrase
    }

    /// Opens something that may be sealed. If what was typed does not open it, the same with its accents in the other forms (NFC, NFD) is
    /// tried: keyboards make different ones.
    ///
    /// - Parameter body: opens it, and asks for the passphrase if it needs one. It is called again for each form.
    static func opening<Content>(_ body: (_ passphrase: () throws -> String) throws -> Content) throws -> Content {
        var typed: String?
        func first() throws -> String {
            let passphrase = try read()
            typed = passphrase
            return passphrase
        }
        do {
            return try body(first)
        } catch  where isWrong(error) {
            guard let typed else { throw error }
            let forms = [typed.precomposedStringWithCanonicalMapping, typed.decomposedStringWithCanonicalMapping]
            for form in forms where !form.utf8.elementsEqual(typed.utf8) {
                do { return try body { form } } catch  where isWrong(error) {}
            }
            throw error
        }
    }

    private static func isWrong(_ error: any Error) -> Bool {
        (error as? FilesError)?.code == .wrongPassphrase || (error as? TrustError)?.code == .wrongPassphrase
    }

    private static func read() throws -> String {
        try isatty(STDIN_FILENO) == 1 ? ask("Passphrase: ") : readLine() ?? ""
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
