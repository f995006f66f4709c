import CFileFormats
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Unpacks archives (tar, zip, with any of the usual compressions) that anybody may have made.
///
/// Nothing is written outside of the folder, symbolic links and devices are left out, and an archive that becomes much larger than it is
/// ends the unpacking. If that fails half-way, the caller removes the folder, which should be for this alone.
enum Archive {
    struct Limits {
        var filesMax = 200_000
        /// Every archive may unpack to so many bytes.
        var bytesMin: Int64 = 256 << 20
        /// A large archive may unpack to so many times its own size.
        var factorMax: Int64 = 60
        var pathBytesMax = 1_000
        /// Whether the checksum of gzip is checked. A backup has better ones for each of its files.
        var checksGzip = true
    }

    private static let blockBytes = 64 << 10

    /// Whether the file begins as an archive that can be unpacked.
    static func isOne(_ path: String) -> Bool {
        guard let reader = try? Reader(path) else { return false }
        return (try? reader.next()) ?? nil != nil
    }

    /// - Returns: what was left out.
    /// - Throws: ``FilesError`` with code `data` for an archive that is damaged or not to be trusted.
    @discardableResult
    static func unpack(_ path: String, into folder: String, limits: Limits = Limits()) throws(FilesError) -> [FolderWalk.Oddity] {
        let bytesMax = try bytesMax(of: path, limits)
        var left = bytesMax
        var files = 0
        var oddities: [FolderWalk.Oddity] = []
        let reader = try Reader(path)
        while let entry = try reader.next() {
            if entry.kind == .locked {
                throw FilesError(.data, "\(path) is locked with a password. Unpack it with another program, and import the folder.")
            }
            guard let name = entry.path else {
                oddities.append(FolderWalk.Oddity(path: entry.shownPath, words: FolderWalk.nameWords))
                continue
            }
            guard isSafe(name), name.utf8.count <= limits.pathBytesMax else {
                throw FilesError(
                    .data,
                    "\(path) is not to be trusted: it has a file that would lie elsewhere (\(name.prefix(80))). Nothing was imported.")
            }
            if entry.kind == .folder { continue }
            files += 1
            if files > limits.filesMax { throw FilesError(.data, "\(path) has more than \(limits.filesMax) files. Nothing was imported.") }
            switch entry.kind {
            case .file: try write(reader, to: name, in: folder, of: path, &left)
            case .same(let target):
                if try !write(copyOf: target, to: name, in: folder, of: path, &left) {
                    oddities.append(FolderWalk.Oddity(path: name, words: "It stands for a file that does not come before it."))
                }
            case .link: oddities.append(FolderWalk.Oddity(path: name, words: FolderWalk.linkWords))
            case .folder, .locked, .other: oddities.append(FolderWalk.Oddity(path: name, words: FolderWalk.otherWords))
            }
        }
        if reader.isPlainTar, try !endsWithZeros(path) {
            throw FilesError(.data, "\(path) is damaged: its end is missing. Nothing was imported.")
        }
        if limits.checksGzip, kith_gzip_is_damaged(path, bytesMax) == 1 {
            throw FilesError(.data, "\(path) is damaged: its checksum is another one. Nothing was imported.")
        }
        return oddities
    }

    /// The same, and what is packed in archives within the archive, if it holds nothing else: so Notion writes it.
    static func unpackAll(_ path: String, into folder: String) throws(FilesError) -> [FolderWalk.Oddity] {
        var oddities = try unpack(path, into: folder)
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
        guard !names.isEmpty, names.count <= innerMax, names.allSatisfy({ $0.lowercased().hasSuffix(".zip") && isOne("\(folder)/\($0)") })
        else {
            return oddities
        }
        let sizes = names.map { ForeignFile.stamp("\(folder)/\($0)")?.bytes ?? 0 }
        // All of them together become no larger than one may, each by its share.
        let most = try bytesMax(of: path, Limits()), sum = max(1, sizes.reduce(0, +))
        for (name, size) in zip(names, sizes) {
            let inner = "\(folder)/\(name)"
            let limits = Limits(bytesMin: Int64(min(1e18, Double(most) * Double(size) / Double(sum))), factorMax: 0)
            do {
                oddities += try unpack(inner, into: folder, limits: limits)
            } catch {
                throw FilesError(error.code, error.message.replacing(inner, with: "\(path): \(name)"))
            }
            unlink(inner)
        }
        return oddities
    }

    /// Archives within an archive that are unpacked.
    private static let innerMax = 64

    private static func bytesMax(of path: String, _ limits: Limits) throws(FilesError) -> Int64 {
        let (product, overflow) = try ForeignFile.requireFile(path).bytes.multipliedReportingOverflow(by: limits.factorMax)
        return max(limits.bytesMin, overflow ? .max : product)
    }

    /// A tar archive ends with two blocks of zeros. Without them it may have been cut off.
    private static func endsWithZeros(_ path: String) throws(FilesError) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path), let size = try? file.seekToEnd(), size >= 1_024,
            (try? file.seek(toOffset: size - 1_024)) != nil, let end = try? file.read(upToCount: 1_024)
        else { return false }
        return end.allSatisfy { $0 == 0 }
    }

    private static func isSafe(_ name: String) -> Bool {
        !RelativePath.isAbsolute(name) && !RelativePath.names(of: name).contains("..")
    }

    private static func write(
        _ reader: Reader, to name: String, in folder: String, of archive: String, _ left: inout Int64
    ) throws(FilesError) {
        guard let place = try place(of: name, in: folder, archive) else { return }
        let descriptor = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(errno, place, name, archive) }
        defer { close(descriptor) }
        while let bytes = try reader.read(blockBytes) {
            left -= Int64(bytes.count)
            if left < 0 { throw larger(archive) }
            try NewFile.write(bytes, descriptor, place)
        }
    }

    /// Gives a file that is unpacked already a second name.
    ///
    /// - Returns: whether there is such a file.
    private static func write(
        copyOf target: String?, to name: String, in folder: String, of archive: String, _ left: inout Int64
    ) throws(FilesError) -> Bool {
        guard let target, isSafe(target), let original = try place(of: target, in: folder, archive),
            let place = try place(of: name, in: folder, archive),
            let stamp = ForeignFile.stamp(original)
        else { return false }
        // An import reads a file once for each of its names.
        left -= stamp.bytes
        if left < 0 { throw larger(archive) }
        if link(original, place) == 0 { return true }
        let number = errno
        if areOne(original, place) { return true }
        throw failure(number, place, name, archive)
    }

    private static func areOne(_ first: String, _ second: String) -> Bool {
        var (one, other) = (stat(), stat())
        return lstat(first, &one) == 0 && lstat(second, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }

    private static func larger(_ archive: String) -> FilesError {
        FilesError(.data, "\(archive) becomes much larger than it is, as none should. Nothing was imported.")
    }

    /// Where a file of the archive is to lie, in a folder that is made; `nil` for no name.
    private static func place(of name: String, in folder: String, _ archive: String) throws(FilesError) -> String? {
        var place = folder
        let parts = RelativePath.names(of: name).filter { $0 != "." }
        guard let last = parts.last else { return nil }
        for part in parts.dropLast() {
            place += "/" + part
            if mkdir(place, 0o700) != 0, errno != EEXIST { throw failure(errno, place, name, archive) }
        }
        return place + "/" + last
    }

    /// The error for a file that could not be made, from the system's error number.
    private static func failure(_ number: Int32, _ place: String, _ name: String, _ archive: String) -> FilesError {
        errno = number
        return switch number {
        case EEXIST: FilesError(.data, "\(archive) has \(name.prefix(80)) twice. Nothing was imported.")
        case ENOTDIR: FilesError(.data, "\(archive) has a file and a folder of one name (\(name.prefix(80))). Nothing was imported.")
        case ENAMETOOLONG:
            FilesError(.data, "\(archive) has a name that is too long for this disk (\(name.prefix(80))). Nothing was imported.")
        default: NewFile.failure(place)
        }
    }

    private struct Entry {
        /// `nil` if it is no text.
        let path: String?
        /// The same, with signs in the place of what is none.
        let shownPath: String
        let kind: Kind
    }

    private enum Kind: Equatable {
        case file
        case folder
        /// A symbolic link.
        case link
        /// A hard link: another name of an earlier file, which is `nil` if its name is no text.
        case same(String?)
        /// What needs a password.
        case locked
        case other
    }

    /// An open archive.
    private final class Reader {
        private let archive: UnsafeMutableRawPointer
        private let path: String

        init(_ path: String) throws(FilesError) {
            guard let archive = kith_archive_open(path) else { throw FilesError(.inputOutput, "There is not enough memory.") }
            (self.archive, self.path) = (archive, path)
        }

        deinit {
            kith_archive_close(archive)
        }

        func next() throws(FilesError) -> Entry? {
            var (name, target): (UnsafePointer<CChar>?, UnsafePointer<CChar>?)
            var kind: Int32 = 0
            switch kith_archive_next(archive, &name, &target, &kind) {
            case 0: return nil
            case 1: return Entry(path: text(name), shownPath: name.map { String(cString: $0) } ?? "", kind: self.kind(kind, target))
            default: throw damage()
            }
        }

        /// A name, with slashes where Windows has put backslashes. In a zip it is of code page 437 if it is not UTF-8 (APPNOTE.TXT 6.3.10,
        /// appendix D).
        private func text(_ name: UnsafePointer<CChar>?) -> String? {
            guard let name else { return nil }
            let isZip = kith_archive_is_zip(archive) == 1
            let text = String(validatingCString: name) ?? (isZip ? Self.text(inPage437: name) : nil)
            return isZip ? text?.replacing("\\", with: "/") : text
        }

        private static func text(inPage437 name: UnsafePointer<CChar>) -> String {
            var text = ""
            for byte in UnsafeBufferPointer(start: name, count: strlen(name)).map({ UInt8(bitPattern: $0) }) {
                text.unicodeScalars.append(byte < 0x80 ? Unicode.Scalar(byte) : page437[Int(byte) - 0x80])
            }
            return text
        }

        private static let page437 = Array(
            "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}"
                .unicodeScalars)

        private func kind(_ number: Int32, _ target: UnsafePointer<CChar>?) -> Kind {
            switch Int(number) {
            case KITH_ARCHIVE_FILE: .file
            case KITH_ARCHIVE_FOLDER: .folder
            case KITH_ARCHIVE_LINK: .link
            case KITH_ARCHIVE_SAME: .same(text(target))
            case KITH_ARCHIVE_LOCKED: .locked
            default: .other
            }
        }

        /// Whether the archive, of which at least one entry was read, is tar without compression.
        var isPlainTar: Bool { kith_archive_is_plain_tar(archive) == 1 }

        /// The next bytes of the entry; `nil` at its end.
        func read(_ count: Int) throws(FilesError) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            let read = bytes.withUnsafeMutableBytes { kith_archive_read(archive, $0.baseAddress, $0.count) }
            if read < 0 { throw damage() }
            if read == 0 { return nil }
            bytes.removeLast(count - read)
            return bytes
        }

        private func damage() -> FilesError {
            let words = kith_archive_error(archive).map { String(cString: $0) } ?? "no archive"
            return FilesError(.data, "\(path) is damaged, or no archive (\(words.prefix(200))). Nothing was imported.")
        }
    }
}
