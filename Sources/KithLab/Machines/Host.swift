#if os(Linux)
import Foundation
import Glibc
import Synchronization

/// One machine of the lab: namespaces of its own for network and mounts, with a private /run, D-Bus system bus and avahi-daemon.
/// All of it ends with the process that holds it.
final class Host: Sendable {
    let index: Int
    let spec: Scenario.Node
    /// What kith is told is its home.
    let home: URL
    private let folder: URL
    private let holder: Child
    /// Loaded into kith to make its clock wrong; `nil` if no clock of the scenario is.
    private let clockLibrary: URL?
    let kith: String

    private struct State {
        var node: Child?
        var writer: Child?
        var isExpectedToEnd = true
        var failure: String?
        /// How often it has got another address.
        var moves = 0
    }
    private let state = Mutex(State())

    var address: String { address(after: state.withLock(\.moves)) }
    var notes: URL { home.appending(path: "store/notes.sqlite") }
    var errors: URL { folder.appending(path: "\(spec.name).err") }
    /// Adds the line in KITH_LAB_LINE to the file it is called with.
    var editor: URL { folder.appending(path: "editor.sh") }
    private var clockFile: URL { folder.appending(path: "\(spec.name).clock") }
    private var ballast: URL { home.appending(path: "ballast") }

    /// Makes the machine, with `tap` as its network card.
    init(_ index: Int, _ spec: Scenario.Node, in folder: URL, kith: String, clockLibrary: URL?, tapName: String) throws {
        self.index = index
        self.spec = spec
        self.folder = folder
        self.kith = kith
        self.clockLibrary = clockLibrary
        home = folder.appending(path: spec.name)
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        let log = folder.appending(path: "\(spec.name).host").path
        if let bytes = spec.diskBytes {
            // Mounted before the machine begins, so that the machine and the lab see the same.
            try Child.run(["mount", "-t", "tmpfs", "-o", "mode=700,size=\(bytes)", "tmpfs", home.path], log: log)
        }
        let ready = folder.appending(path: "\(spec.name).ready").path
        let script = """
            mount -t tmpfs -o mode=755,size=16m tmpfs /run && mkdir -p /run/dbus && echo ready >"$0" && exec sleep infinity
            """
        holder = try Child(
            ["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c", script, ready], output: .file(log + ".holder"))
        try Self.wait("machine \(spec.name) to start") { FileManager.default.fileExists(atPath: ready) }
        try Child.run(["ip", "link", "set", tapName, "netns", "\(holder.pid)", "name", "eth0"], log: log)
        let network = """
            echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 2>/dev/null
            ip link set lo up && ip addr add \(address)/24 dev eth0 && ip link set eth0 up
            """
        try Child.run(inside(["sh", "-c", network]), log: log)
        try "printf '\\n%s\\n' \"$KITH_LAB_LINE\" >>\"$1\"\n".write(to: editor, atomically: true, encoding: .utf8)
        try setClock(spec.clockMilliseconds)
        try startDaemons()
    }

    /// `arguments` on this machine.
    private func inside(_ arguments: [String]) -> [String] {
        ["nsenter", "-t", "\(holder.pid)", "-n", "-m", "--"] + arguments
    }

    private func startDaemons() throws {
        let configuration = folder.appending(path: "\(spec.name).avahi")
        try """
        [server]
        host-name=\(spec.name)
        use-ipv4=yes
        use-ipv6=no
        allow-interfaces=eth0
        ratelimit-interval-usec=1000000
        ratelimit-burst=1000
        [wide-area]
        enable-wide-area=no
        [publish]
        publish-hinfo=no
        publish-workstation=no

        """.write(to: configuration, atomically: false, encoding: .utf8)
        let log = folder.appending(path: "\(spec.name).daemons").path
        _ = try Child(inside(["dbus-daemon", "--system", "--nofork", "--nopidfile"]), output: .file(log + ".dbus"))
        try Self.wait("the bus of \(spec.name)") {
            (try? Child.run(inside(["test", "-S", "/run/dbus/system_bus_socket"]), log: log)) != nil
        }
        _ = try Child(inside(["avahi-daemon", "--no-rlimits", "--no-chroot", "-f", configuration.path]), output: .file(log))
    }

    private static func wait(_ what: String, _ condition: () -> Bool) throws {
        for _ in 0..<500 {
            if condition() { return }
            usleep(20_000)
        }
        throw LabError(.unavailable, "Waited ten seconds for \(what).")
    }

    // MARK: kith

    private func command(_ arguments: [String]) -> [String] {
        var variables = ["KITH_HOME=\(home.path)", "TMPDIR=\(folder.path)"]
        if let clockLibrary { variables += ["LD_PRELOAD=\(clockLibrary.path)", "KITH_LAB_CLOCK=\(clockFile.path)"] }
        return inside(["env"] + variables + [kith] + arguments)
    }

    /// Runs a command of kith on this machine.
    ///
    /// - Parameters:
    ///   - isWrite: whether ``kill()`` ends it, too.
    ///   - isLook: whether another command may run at the same time, which is neither.
    ///   - secondsMax: when it is killed; `nil` for never.
    /// - Returns: its exit status (128 and more for a signal) and what it printed.
    func run(
        _ arguments: [String], environment: [String: String] = [:], isWrite: Bool = false, isLook: Bool = false, secondsMax: Int? = nil
    ) throws(LabError) -> (status: Int32, text: String) {
        let log = folder.appending(path: "\(spec.name).\(isWrite ? "write" : isLook ? "look" : "command")").path
        let child = try Child(command(arguments), environment: environment, output: .file(log))
        if isWrite { state.withLock { $0.writer = child } }
        if let secondsMax { DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(secondsMax)) { child.signal(SIGKILL) } }
        let status = child.wait()
        if isWrite { state.withLock { $0.writer = nil } }
        return (status, (try? String(contentsOfFile: log, encoding: .utf8)) ?? "")
    }

    /// Takes `other` into the household of this machine, or makes one.
    func admit(_ other: Host) throws {
        let port = 4_748
        let errors = folder.appending(path: "\(spec.name).pair").path
        let shown = try Child(
            command(["pair", "--token", "--json", "--no-discovery", "--port", "\(port)", "--name", spec.name]),
            output: .lines(errors: errors))
        let token = Mutex<String?>(nil)
        let text = Mutex("")
        Thread.detachNewThread {
            shown.readLines { line in
                let all = text.withLock { text in
                    text += line
                    return text
                }
                if let found = all.firstMatch(of: /"token"\s*:\s*"([^"]*)"/) { token.withLock { $0 = String(found.1) } }
            }
        }
        try Self.wait("the token of \(spec.name)") { token.withLock { $0 != nil } }
        let answer = try other.run(
            ["pair", token.withLock { $0 } ?? "", "--address", "\(address):\(port)", "--no-discovery", "--name", other.spec.name])
        if answer.status != 0 { shown.signal(SIGTERM) }
        guard shown.wait() == 0, answer.status == 0 else {
            throw LabError(.software, "\(spec.name) and \(other.spec.name) could not be paired: \(answer.text)")
        }
    }

    /// Starts the node, unless it runs.
    ///
    /// - Parameter line: called, on a thread of its own, for each line of its status.
    func start(_ line: @escaping @Sendable (String) -> Void) throws(LabError) {
        guard state.withLock({ $0.node == nil }) else { return }
        let node = try Child(command(["up", "--port", "0", "--json"]), output: .lines(errors: errors.path))
        state.withLock { state in
            state.node = node
            state.isExpectedToEnd = false
        }
        Thread.detachNewThread { [self] in
            node.readLines(line)
            let status = node.wait()
            state.withLock { state in
                if !state.isExpectedToEnd { state.failure = "kith up on \(spec.name) ended by itself with status \(status). \(lastWords)" }
                state.node = nil
            }
        }
    }

    var isRunning: Bool { state.withLock { $0.node != nil } }
    /// Why the node is not running, if nobody stopped it.
    var failure: String? { state.withLock { $0.failure } }

    private var lastWords: String {
        ((try? String(contentsOf: errors, encoding: .utf8)) ?? "").split(separator: "\n").suffix(2).joined(separator: " ")
    }

    /// Ends the node as a person would.
    func stop() { end(SIGTERM) }

    /// kill -9 of everything that writes here.
    func kill() {
        end(SIGKILL)
        state.withLock { $0.writer }?.signal(SIGKILL)
    }

    private func end(_ signal: Int32) {
        let node = state.withLock { state in
            state.isExpectedToEnd = true
            return state.node
        }
        node?.signal(SIGCONT)
        node?.signal(signal)
    }

    func pause(_ isPaused: Bool) {
        state.withLock { $0.node }?.signal(isPaused ? SIGSTOP : SIGCONT)
    }

    // MARK: The machine

    private func address(after moves: Int) -> String {
        "10.77.0.\(1 + index + moves % Self.movesMax * (Scenario.nodesMax + 1))"
    }

    /// After so many other addresses the first one comes again.
    private static let movesMax = 15

    /// Gives the machine another address, and takes the one before away.
    func move() throws {
        let before = address
        state.withLock { $0.moves += 1 }
        // The other way round the kernel would take the new one away with the old one.
        let change = "ip addr del \(before)/24 dev eth0 && ip addr add \(address)/24 dev eth0"
        try Child.run(inside(["sh", "-c", change]), log: folder.appending(path: "\(spec.name).move").path)
    }

    func setClock(_ milliseconds: Int64) throws {
        // In one step, because kith may read it at any moment.
        try "\(milliseconds)\n".write(to: clockFile, atomically: true, encoding: .utf8)
    }

    /// Fills the disk to its last byte.
    func fill() {
        let descriptor = open(ballast.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        for size in [65_536, 4_096, 256, 1] {
            let block = [UInt8](repeating: 0x2E, count: size)
            while write(descriptor, block, size) == size {}
        }
    }

    func free() {
        try? FileManager.default.removeItem(at: ballast)
    }

    /// A file for a person of this machine to attach; `nil` if it cannot be made.
    func makeFile(_ file: LabFile) -> URL? {
        let url = folder.appending(path: file.name)
        return (try? file.content.write(to: url)) == nil ? nil : url
    }
}
#endif
