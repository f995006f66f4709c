#if os(Linux)
import Foundation
import Glibc
import Synchronization

/// A process that the lab has started.
final class Child: Sendable {
    enum Output: Sendable {
        case inherited
        case nothing
        /// Standard output and standard error into one file.
        case file(String)
        /// Standard output to ``Child/lines``, standard error into a file.
        case lines(errors: String)
    }

    let pid: pid_t
    /// The reading end of standard output, if that was asked for.
    private let reading: Int32
    private let status = Mutex<Int32?>(nil)

    /// Starts `arguments[0]`, looked up in PATH.
    ///
    /// - Parameters:
    ///   - environment: added to that of this process.
    ///   - input: a descriptor that becomes standard input; without it, that is empty.
    ///   - ownGroup: whether signals of the terminal pass it by.
    init(_ arguments: [String], environment: [String: String] = [:], output: Output = .nothing, input: Int32? = nil, ownGroup: Bool = true)
        throws(LabError)
    {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var pipe: [Int32] = [-1, -1]
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        switch output {
        case .inherited: break
        case .nothing:
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        case .file(let path):
            posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        case .lines(let errors):
            pipe = try Self.streams()
            posix_spawn_file_actions_adddup2(&actions, pipe[1], 1)
            posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (ownGroup ? POSIX_SPAWN_SETPGROUP : 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = merged.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var pid: pid_t = 0
        let error = posix_spawnp(&pid, arguments[0], &actions, &attributes, &argv, &envp)
        if pipe[1] >= 0 { close(pipe[1]) }
        self.pid = pid
        reading = pipe[0]
        if error != 0 {
            if reading >= 0 { close(reading) }
            throw LabError(.unavailable, "\(arguments[0]) cannot be started: \(String(cString: strerror(error))).")
        }
    }

    /// Waits until it ends: its exit status, or 128 and the number of the signal that ended it. To be called from one thread.
    @discardableResult
    func wait() -> Int32 {
        if let status = status.withLock({ $0 }) { return status }
        var raw: Int32 = 0
        while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
        let ended = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
        status.withLock { $0 = ended }
        return ended
    }

    /// Sends a signal, unless it is known to have ended.
    func signal(_ number: Int32) {
        status.withLock { if $0 == nil { kill(pid, number) } }
    }

    /// Calls `body` for each line of its output, until it closes that.
    func readLines(_ body: (String) -> Void) {
        var rest: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(reading, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            rest += buffer[..<count]
            while let end = rest.firstIndex(of: 10) {
                body(String(decoding: rest[..<end], as: UTF8.self))
                rest.removeSubrange(...end)
            }
        }
        close(reading)
    }

    /// Two ends of a stream, for reading and for writing, that no other process inherits. (Swift does not know `pipe2`.)
    static func streams() throws(LabError) -> [Int32] {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw LabError(.software, "No pipe could be made: \(String(cString: strerror(errno))).")
        }
        return ends
    }

    /// Runs a command and waits for it.
    ///
    /// - Throws: ``LabError`` with what it printed, if its exit status is not 0.
    @discardableResult
    static func run(_ arguments: [String], environment: [String: String] = [:], log: String) throws(LabError) -> String {
        let status = try Child(arguments, environment: environment, output: .file(log)).wait()
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        if status != 0 { throw LabError(.unavailable, "`\(arguments.joined(separator: " "))` failed with status \(status): \(text)") }
        return text
    }
}
#endif
