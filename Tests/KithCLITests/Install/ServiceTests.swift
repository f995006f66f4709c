import Foundation
import Testing

@testable import KithCLI

#if os(Linux)
import Glibc

@Suite("A machine starts, and its notes do not", .timeLimit(.minutes(2)))
struct ServiceTests {
    private let home: KithHome

    init() throws { home = try KithHome() }

    /// A systemctl that writes down what it is asked for.
    private func fakeSystemctl(_ line: String = "") throws -> [String: String] {
        try FileManager.default.createDirectory(at: home.folder.appending(path: "bin"), withIntermediateDirectories: true)
        try home.script("bin/systemctl", "echo \"$@\" >> \"$HOME/calls\"\n\(line)")
        return ["PATH": home.path("bin") + ":/usr/bin:/bin"]
    }

    private var calls: [String] {
        ((try? String(contentsOfFile: home.path("calls"), encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    private var unit: URL { home.folder.appending(path: ".config/systemd/user/kith.service") }

    @Test("a service manager is told when the node runs, what it does, and that it stops")
    func notify() async throws {
        let path = home.path("socket")
        let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(receiver) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(receiver, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        try #require(bound == 0)
        var timeout = timeval(tv_sec: 90, tv_usec: 0)
        setsockopt(receiver, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        func next() -> String {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = recv(receiver, &buffer, buffer.count, 0)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
        let node = try RunningNode(home, "--no-discovery", environment: ["NOTIFY_SOCKET": path])
        #expect(next() == "READY=1")
        #expect(next().hasPrefix("STATUS=Local only"))
        #expect(try home.kith("status").output.hasPrefix("Local only"))
        kill(node.processID, SIGTERM)
        #expect(next() == "STOPPING=1")
        #expect(try await node.end() == 0)
    }

    @Test("the unit that is installed runs this program with these options, and is enabled and started")
    func install() throws {
        let environment = try fakeSystemctl()
        let result = try home.kith("up", "--install", "--port", "4750", "--no-discovery", environment: environment)
        #expect(result.status == 0 && result.output.contains("loginctl enable-linger"), "\(result.error)")
        #expect(calls == ["--user daemon-reload", "--user daemon-reload", "--user enable kith.service", "--user restart kith.service"])
        let text = try String(contentsOf: unit, encoding: .utf8)
        #expect(text.contains("ExecStart=\(try KithHome.program.path) up --port 4750 --no-discovery\n"))
        #expect(text.contains("Environment=KITH_HOME=\(home.folder.path)\n"))
        #expect(text.contains("Type=notify") && !text.contains("ConditionPathExists"))
        let removed = try home.kith("up", "--uninstall", environment: environment)
        #expect(removed.status == 0 && removed.output.contains("The notes stay in \(home.store.path)"), "\(removed.output)")
        #expect(calls.suffix(2) == ["--user disable --now kith.service", "--user daemon-reload"])
        #expect(!FileManager.default.fileExists(atPath: unit.path))
        #expect(try home.kith("up", "--uninstall", environment: environment).output.contains("No service of kith is installed"))
        #expect(calls.count == 6)
    }

    @Test("where there is no systemd, or it refuses, that is said")
    func noSystemd() throws {
        try FileManager.default.createDirectory(at: home.folder.appending(path: "empty"), withIntermediateDirectories: true)
        expectFailure(try home.kith("up", "--install", environment: ["PATH": home.path("empty")]), 69, "no systemctl")
        #expect(!FileManager.default.fileExists(atPath: unit.path))
        expectFailure(try home.kith("up", "--install", environment: fakeSystemctl("exit 1")), 69, "daemon-reload")
        #expect(!FileManager.default.fileExists(atPath: unit.path))
        #expect(try home.kith("up", "--install", "--uninstall").status == 64)
        let stopped = try home.kith("up", "--install", environment: fakeSystemctl("[ \"$2\" != restart ]"))
        expectFailure(stopped, 69, "started at the next login")
        #expect(stopped.error.contains("--uninstall") && !stopped.error.contains("login session"), "\(stopped.error)")
        #expect(FileManager.default.fileExists(atPath: unit.path))
    }

    @Test(
        "a path or a command reaches the node as it was typed, whatever systemd would make of it",
        arguments: [
            ("/home/ann/notes.sqlite", "/home/ann/notes.sqlite"), ("/home/ann b/n", "\"/home/ann b/n\""), ("100%", "\"100%%\""),
            ("echo \"$HOME\" \\n", #""echo \"$$HOME\" \\n""#), ("a\nb", #""a\nb""#), ("é", "\"é\""),
        ])
    func quoting(word: String, quoted: String) {
        #expect(UserService.quoted(word, isCommand: true) == quoted)
        let unit = UserService.unit(program: "/bin/kith", arguments: [word], environment: ["XDG_DATA_HOME": "/a $b"])
        #expect(unit.contains("\nExecStart=/bin/kith up \(quoted)\n"))
        #expect(unit.contains("\nEnvironment=\"XDG_DATA_HOME=/a $b\"\n"))
    }

    @Test("the units are such that systemd has nothing to say about them")
    func verify() throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze") else { return }
        let unit = UserService.unit(program: "/bin/true", arguments: ["--on-change", "a $b %c \"d\""], environment: [:])
        try home.write("kith.service", Data(unit.utf8))
        let result = try home.shell(
            "systemd-analyze verify --user --man=no kith.service", environment: ["XDG_RUNTIME_DIR": home.folder.path])
        #expect(result.status == 0 && !result.error.contains("kith.service:"), "\(result.error)")
    }
}
#endif
