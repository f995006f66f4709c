import Foundation

/// Reads snapshots that an app keeps up to date with `SyncedApp.snapshot(_:to:)`: for widgets, menus and other programs.
///
///     let reader = SnapshotReader(url)
///     switch reader.rows(of: Task.self) {
///     case .ok(let top): show(top.content)
///     case .stale(let top): show(top.content, asOf: top.date)
///     case .missing, .damaged, .newer: showPlaceholder()
///     }
///
/// It needs neither the database nor anything of Kith but this module, takes no lock, and never sees half a file: a snapshot is replaced as
/// a whole. It may be read at any time, by any number of programs.
public struct SnapshotReader: Sendable {
    /// The file.
    public let url: URL
    private let now: @Sendable () -> Date

    /// - Parameter now: what time it is, for ``SnapshotReading/stale(_:)``.
    public init(_ url: URL, now: @escaping @Sendable () -> Date = { Date() }) {
        self.url = url
        self.now = now
    }

    /// The snapshot, its content decoded from JSON.
    public func read<Content: Decodable>(_ type: Content.Type = Content.self) -> SnapshotReading<Content> {
        content { bytes in (try SnapshotFormat.decoder.decode(type, from: bytes), 0) }
    }

    /// A snapshot that is a list: elements that cannot be decoded are left out, and counted in ``Snapshot/skipped``.
    public func rows<Element: Decodable>(of type: Element.Type = Element.self) -> SnapshotReading<[Element]> {
        content { bytes in
            let elements = try SnapshotFormat.decoder.decode([Lenient<Element>].self, from: bytes).map(\.value)
            let rows = elements.compactMap(\.self)
            return (rows, elements.count - rows.count)
        }
    }

    /// The content as it stands in the file, for one that an app's own encoder has written.
    public func bytes() -> SnapshotReading<Data> {
        do throws(SnapshotFormat.Failure) {
            guard let bytes = try file() else { return .missing }
            let snapshot = try SnapshotFormat.raw(bytes).snapshot
            return snapshot.validUntil.map { $0 < now() } ?? false ? .stale(snapshot) : .ok(snapshot)
        } catch {
            switch error {
            case .damage(let damage): return .damaged(damage)
            case .newer(let version): return .newer(format: version)
            }
        }
    }

    private func content<Content>(_ decode: (Data) throws -> (Content, skipped: Int)) -> SnapshotReading<Content> {
        func decoded(_ snapshot: Snapshot<Data>, _ reading: (Snapshot<Content>) -> SnapshotReading<Content>) -> SnapshotReading<Content> {
            do {
                let (content, skipped) = try decode(snapshot.content)
                return reading(snapshot.with(content, skipped: skipped))
            } catch {
                return .damaged(.content("\(error)"))
            }
        }
        switch bytes() {
        case .ok(let snapshot): return decoded(snapshot) { .ok($0) }
        case .stale(let snapshot): return decoded(snapshot) { .stale($0) }
        case .missing: return .missing
        case .damaged(let damage): return .damaged(damage)
        case .newer(let version): return .newer(format: version)
        }
    }

    private struct Lenient<Element: Decodable>: Decodable {
        let value: Element?

        init(from decoder: any Decoder) {
            value = try? Element(from: decoder)
        }
    }

    /// What is in the file; `nil` if there is none.
    private func file() throws(SnapshotFormat.Failure) -> Data? {
        do {
            // A pipe would be waited for.
            let kind = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)[.type]
            guard kind as? FileAttributeType == .typeRegular else { throw SnapshotFormat.Failure.damage(.unreadable("It is no file.")) }
            let handle = try FileHandle(forReadingFrom: url)
            defer { try? handle.close() }
            var bytes = Data()
            while bytes.count <= SnapshotFormat.bytesMax, let more = try handle.read(upToCount: 64 * 1_024), !more.isEmpty { bytes += more }
            if bytes.count > SnapshotFormat.bytesMax { throw SnapshotFormat.Failure.damage(.tooLong) }
            return bytes
        } catch let error as SnapshotFormat.Failure {
            throw error
        } catch CocoaError.fileNoSuchFile, CocoaError.fileReadNoSuchFile {
            return nil
        } catch {
            throw .damage(.unreadable(error.localizedDescription))
        }
    }
}
