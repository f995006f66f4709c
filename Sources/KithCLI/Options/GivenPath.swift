import ArgumentParser

/// A path that a person has given.
enum GivenPath {
    /// - Throws: if it is empty, as of a variable of the shell that is not set: it would be the folder that the person is in.
    static func read(_ text: String) throws -> String {
        if text.isEmpty { throw ValidationError("The path is empty.") }
        // The shell has replaced a tilde that stands for a home. Foundation would replace also one that begins a name.
        return text.utf8.first == UInt8(ascii: "~") ? "./" + text : text
    }
}
