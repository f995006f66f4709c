#if os(Linux)
import Dispatch
import Foundation
import Glibc

/// Where the lab's machines live: process, mount and network namespaces of their own. Nothing in them is seen outside, and the
/// kernel removes all of it with their first process, whatever ends that.
enum PrivateWorld {
    /// Set for the process inside: the folder of the run.
    static let folderVariable = "KITH_LAB_FOLDER"
    private static let folderPrefix = "kith-lab-"
    private static let stopSecondsMax = 10

    /// The folder of the run, inside; `nil` outside.
    static var folder: URL? {
        ProcessInfo.processInfo.environment[folderVariable].map { URL(filePath: $0, directoryHint: .isDirectory) }
    }

    /// Why there can be no such world here.
    static func obstacle() -> String? {
        if geteuid() != 0 { return "The lab needs root, because it makes network namespaces. Run it with sudo." }
        for tool in ["unshare", "nsenter", "ip", "mount", "dbus-daemon", "avahi-daemon"] where !isInstalled(tool) {
            return "\(tool) is not installed. The lab needs util-linux, iproute2, dbus and avahi-daemon."
        }
        if access("/dev/net/tun", R_OK | W_OK) != 0 { return "/dev/net/tun is not there, so the lab cannot make network cards." }
        guard let child = try? Child(unshare + ["true"]), child.wait() == 0 else {
            return "This system does not allow namespaces, which the lab needs; containers often forbid them."
        }
        return nil
    }

    static func isInstalled(_ tool: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return (path + ":/usr/sbin:/sbin").split(separator: ":").contains { access("\($0)/\(tool)", X_OK) == 0 }
    }

    private static let unshare = [
        "unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc", "--propagation", "private", "--",
    ]

    /// Runs this program again, with the same arguments, inside a new world. Ends it when a signal asks this process to stop.
    ///
    /// - Returns: the exit status.
    static func run(keepsFolder: Bool) throws(LabError) -> Int32 {
        if let obstacle = obstacle() { throw LabError(.unavailable, obstacle) }
        removeLeftovers()
        let folder = FileManager.default.temporaryDirectory.appending(path: "\(folderPrefix)\(getpid())-\(UInt32.random(in: 0 ... .max))")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw LabError(.unavailable, "A folder for the run cannot be made: \(error.localizedDescription)")
        }
        defer { if !keepsFolder { try? FileManager.default.removeItem(at: folder) } }
        // The process inside ends when this end of the pipe is closed: by us, or because we are gone.
        let lifeline = try Child.streams()
        let arguments = unshare + [executable] + CommandLine.arguments.dropFirst()
        let child = try Child(arguments, environment: [folderVariable: folder.path], output: .inherited, input: lifeline[0])
        close(lifeline[0])
        let writing = lifeline[1]
        let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            Glibc.signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                close(writing)
                DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(stopSecondsMax)) { child.signal(SIGKILL) }
            }
            source.resume()
            return source
        }
        defer { withExtendedLifetime(sources) {} }
        let status = child.wait()
        if keepsFolder { FileHandle.standardError.write(Data("The stores and logs are in \(folder.path).\n".utf8)) }
        return status
    }

    /// The program itself, wherever it was found.
    static var executable: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }

    /// Calls `body` once the process outside is gone or wants us to stop. Inside only.
    static func onStop(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while true {
                let count = read(0, &byte, 1)
                if count > 0 || count < 0 && errno == EINTR { continue }
                return body()
            }
        }
    }

    /// Folders of runs that were killed; their processes went with them.
    private static func removeLeftovers() {
        let parent = FileManager.default.temporaryDirectory
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? [] where name.hasPrefix(folderPrefix) {
            let words = name.dropFirst(folderPrefix.count).split(separator: "-")
            guard words.count == 2, let pid = pid_t(words[0]), kill(pid, 0) != 0, errno == ESRCH else { continue }
            try? FileManager.default.removeItem(at: parent.appending(path: name))
        }
    }
}
#endif
