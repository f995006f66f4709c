import Dispatch
import KithCapture
import KithLedger
import KithSQLite
import KithTexts

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

#if os(Linux)
/// Tells when files are written, created or replaced, through inotify on their folder.
///
/// Where the system grants no watch, nothing is told; the caller polls as well.
final class FileWatch {
    private let source: (any DispatchSourceRead)?
    private let descriptor: Int32
    private let folders: [String]
    /// What the kernel calls the watches on the folders.
    private var watches: [Int32] = []
    private var isPaused = false

    init(paths: [String], queue: DispatchQueue, changed: @escaping () -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        self.descriptor = descriptor
        folders = Set(paths.map(Self.folder)).sorted()
        let names = paths.map { Array(Self.name($0).utf8) }
        guard descriptor >= 0 else {
            source = nil
            return
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { if Self.drain(descriptor, names) { changed() } }
        source.setCancelHandler { close(descriptor) }
        source.resume()
        self.source = source
        begin()
    }

    private func begin() {
        let mask = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)
        watches = folders.map { inotify_add_watch(descriptor, $0, mask) }.filter { $0 >= 0 }
    }

    /// Tells nothing until ``resume()``, and nothing of what is written meanwhile. The kernel notes nothing either: each page of a commit is
    /// two writes, and to note them took a quarter of the processor time of small commits.
    func pause() {
        if isPaused { return }
        isPaused = true
        source?.suspend()
        for watch in watches { inotify_rm_watch(descriptor, watch) }
        watches = []
    }

    func resume() {
        if !isPaused { return }
        isPaused = false
        if source != nil { begin() }
        source?.resume()
    }

    func stop() {
        // A source that sleeps must not be let go.
        resume()
        source?.cancel()
    }

    /// Reads all events that wait; whether one is of a file with one of `names`.
    private static func drain(_ descriptor: Int32, _ names: [[UInt8]]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 * 1_024)
        var isOurs = false
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { return isOurs }
            var offset = 0
            let header = MemoryLayout<inotify_event>.size
            while offset + header <= count {
                let event = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self) }
                let end = min(count, offset + header + Int(event.len))
                let name = Array(buffer[offset + header..<end].prefix { $0 != 0 })
                if names.contains(name) || event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isOurs = true }
                offset = end
            }
        }
    }

    private static func folder(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func name(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}
#else
/// Tells when files are written, through the kernel's event queue. A file that does not exist yet is not watched; the
/// caller polls as well.
final class FileWatch {
    private let sources: [any DispatchSourceFileSystemObject]
    private var isPaused = false

    init(paths: [String], queue: DispatchQueue, changed: @escaping () -> Void) {
        sources = paths.compactMap { path in
            let descriptor = open(path, O_EVTONLY)
            guard descriptor >= 0 else { return nil }
            let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: [.write, .extend], queue: queue)
            source.setEventHandler(handler: changed)
            source.setCancelHandler { close(descriptor) }
            source.resume()
            return source
        }
    }

    /// Tells nothing until ``resume()``, which tells at once if something was written meanwhile.
    func pause() {
        if isPaused { return }
        isPaused = true
        for source in sources { source.suspend() }
    }

    func resume() {
        if !isPaused { return }
        isPaused = false
        for source in sources { source.resume() }
    }

    func stop() {
        // A source that sleeps must not be let go.
        resume()
        for source in sources { source.cancel() }
    }
}
#endif
