import ArgumentParser
import Kith

/// A name for a machine that a person has typed.
enum DeviceNameOption {
    /// - Throws: `ValidationError` for a name that nobody could see, or that is too long.
    static func check(_ name: String) throws {
        if name.allSatisfy(\.isWhitespace) { throw ValidationError("A machine needs a name that can be seen. Give one.") }
        if name.utf8.count > TrustedDevice.nameBytesMax {
            throw ValidationError("The name of a machine has at most \(TrustedDevice.nameBytesMax) bytes. Choose a shorter one.")
        }
    }
}
