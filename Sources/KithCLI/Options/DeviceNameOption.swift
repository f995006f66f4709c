import ArgumentParser

/// A name for a machine that a person has typed.
enum DeviceNameOption {
    /// - Throws: `ValidationError` for a name that nobody could see.
    static func check(_ name: String) throws {
        if name.allSatisfy(\.isWhitespace) { throw ValidationError("A machine needs a name that can be seen. Give one.") }
    }
}
