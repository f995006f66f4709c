import Foundation

/// The browser of the person's desktop.
enum Browser {
    #if canImport(Darwin)
    private static let program = "open"
    #else
    private static let program = "xdg-open"
    #endif

    /// Where there is none, the address on the screen is all there is.
    static func open(_ address: URL) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program, address.absoluteString]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try? process.run()
    }
}
