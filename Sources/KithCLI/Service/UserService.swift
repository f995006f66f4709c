import Foundation

/// The node as a service of this person's systemd: for a kith that no package has installed.
struct UserService {
    /// The unit's name; the package has one of the same name in /usr/lib, and this one goes before it.
    static let name = "kith.service"

    /// Where units of this person are.
    private let folder: URL
    private let environment: [String: String]

    var unit: URL { folder.appending(path: Self.name) }

    /// - Parameter environment: of which `XDG_CONFIG_HOME`, `HOME`, `PATH` and the folders of kith are read.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) throws(CommandFailure) {
        #if !os(Linux)
        throw CommandFailure(.unavailable, "Services are installed for systemd, which this system does not have. Start `kith up` yourself.")
        #else
        let configuration = environment["XDG_CONFIG_HOME"].flatMap {
            $0.hasPrefix("/") ? URL(filePath: $0, directoryHint: .isDirectory) : nil
        }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0, directoryHint: .isDirectory) : nil }
        folder = (configuration ?? (home ?? FileManager.default.homeDirectoryForCurrentUser).appending(path: ".config"))
            .appending(path: "systemd/user")
        self.environment = environment
        #endif
    }

    /// Writes the unit, starts it, and has it started at each login.
    ///
    /// - Parameter arguments: of `kith up`.
    func install(program: String, arguments: [String]) throws(CommandFailure) {
        try checkForSystemctl()
        // Nothing is left behind where there is no systemd to start it.
        try systemctl("daemon-reload", otherwise: "Without a login session there is no systemd of yours to ask.")
        let text = Self.unit(program: program, arguments: arguments, environment: environment)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: unit, options: .atomic)
        } catch {
            throw CommandFailure(.cannotCreate, "\(unit.path) cannot be written. Check the permissions of its folder.")
        }
        let written = "The service stays in \(unit.path); kith up --uninstall removes it."
        try systemctl("daemon-reload", otherwise: written)
        try systemctl("enable", Self.name, otherwise: written)
        // Another version of it may be running.
        try systemctl(
            "restart", Self.name,
            otherwise: "It is started at the next login. If `kith up` runs elsewhere, end that, and run this again. \(written)")
    }

    /// Stops it and removes the unit; the notes stay.
    /// - Returns: whether there was one.
    func uninstall() throws(CommandFailure) -> Bool {
        guard FileManager.default.fileExists(atPath: unit.path) else { return false }
        try checkForSystemctl()
        let session = "Without a login session there is no systemd of yours to ask."
        try systemctl("disable", "--now", Self.name, otherwise: session)
        do {
            try FileManager.default.removeItem(at: unit)
        } catch {
            throw CommandFailure(.cannotCreate, "\(unit.path) cannot be removed. Check the permissions of its folder.")
        }
        try systemctl("daemon-reload", otherwise: session)
        return true
    }

    /// The unit of the package, for another program and what it was told.
    static func unit(program: String, arguments: [String], environment: [String: String]) -> String {
        let command = ([program, "up"] + arguments).map { quoted($0, isCommand: true) }.joined(separator: " ")
        let places = ["KITH_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"].compactMap { name in
            environment[name].flatMap { $0.isEmpty ? nil : "Environment=" + quoted("\(name)=\($0)", isCommand: false) }
        }
        let original = String(decoding: PackageResources.kith_service, as: UTF8.self)
        let lines = original.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            if line.hasPrefix("ConditionPathExists=") || line.hasPrefix("# Whoever has no notes") { return [] }
            return line.hasPrefix("ExecStart=") ? places + ["ExecStart=" + command] : [String(line)]
        }
        return lines.joined(separator: "\n")
    }

    /// One word of a unit, in which percent signs, and dollars in commands, mean something (systemd.syntax(7), systemd.service(5)).
    static func quoted(_ word: String, isCommand: Bool) -> String {
        var text = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%").replacing("\n", with: "\\n")
        if isCommand { text = text.replacing("$", with: "$$") }
        let isPlain = word.utf8.allSatisfy { byte in
            byte.isLetterOrDigit || "/._-=:@,+".utf8.contains(byte)
        }
        return isPlain ? text : "\"\(text)\""
    }

    private func checkForSystemctl() throws(CommandFailure) {
        if Companion.path(of: "systemctl", beside: nil, searching: environment["PATH"]) == nil {
            throw CommandFailure(.unavailable, "systemd is not here: there is no systemctl on the PATH. Start `kith up` yourself.")
        }
    }

    /// - Parameter words: what to know if it fails.
    private func systemctl(_ arguments: String..., otherwise words: String) throws(CommandFailure) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["systemctl", "--user"] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.standardError
        let line = "systemctl --user \(arguments.joined(separator: " "))"
        do {
            try process.run()
        } catch {
            throw CommandFailure(.unavailable, "`\(line)` cannot be started.")
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CommandFailure(.unavailable, "`\(line)` failed; what it said is above. \(words)")
        }
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}
