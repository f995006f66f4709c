import Foundation

/// The bytes of a snapshot: docs/snapshots.md is the rule.
///
///     kith-snapshot 1 183 9ab3c0de
///     {"content":"json","name":"top","time":1790000000000,"vector":{…}}
///     [{"title":"Milk"}]
///
/// The first line holds the version of the format, how many bytes follow it, and their CRC-32. The second line is a JSON object; the rest
/// is the content.
public enum SnapshotFormat {
    /// The version that is written here.
    public static let version = 1
    /// Of a whole file.
    public static let bytesMax = 4 * 1_024 * 1_024
    static let firstLineBytesMax = 64
    private static let magic = "kith-snapshot"
    /// What every snapshot begins with.
    static let beginning = Data("\(magic) ".utf8)

    /// The second line. Fields that a reader does not know it leaves alone.
    struct Header: Codable, Equatable {
        var name: String
        /// Milliseconds since 1970, as all times here.
        var time: Int64
        var vector: SnapshotVersion
        var validUntil: Int64?
        var next: Int64?
        /// How the content is written: `json`, or an app's own word.
        var content: String
    }

    /// A snapshot as it lies in a file.
    package struct Raw: Equatable {
        package let snapshot: Snapshot<Data>
        package let encoding: String

        package init(_ snapshot: Snapshot<Data>, encoding: String) {
            (self.snapshot, self.encoding) = (snapshot, encoding)
        }
    }

    package static func bytes(
        name: String, date: Date, version: SnapshotVersion, validUntil: Date?, nextMoment: Date?, encoding: String, content: Data
    ) throws -> Data {
        let header = Header(
            name: name, time: milliseconds(date), vector: version, validUntil: validUntil.map(milliseconds),
            next: nextMoment.map(milliseconds), content: encoding)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let rest = try encoder.encode(header) + Data("\n".utf8) + content
        let checksum = String(Checksum.of(rest), radix: 16)
        let padded = String(repeating: "0", count: 8 - checksum.count) + checksum
        return Data("\(magic) \(self.version) \(rest.count) \(padded)\n".utf8) + rest
    }

    enum Failure: Error, Equatable {
        case damage(SnapshotDamage)
        case newer(Int)
    }

    static func raw(_ bytes: Data) throws(Failure) -> Raw {
        guard let end = bytes.prefix(firstLineBytesMax).firstIndex(of: UInt8(ascii: "\n")) else { throw .damage(.notASnapshot) }
        let words = String(decoding: bytes[bytes.startIndex..<end], as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count >= 2, words[0] == magic, let version = number(words[1]), version > 0 else { throw .damage(.notASnapshot) }
        if version > self.version { throw .newer(version) }
        let rest = bytes[(end + 1)...]
        guard words.count == 4, number(words[2]) == rest.count, words[3].utf8.count == 8,
            UInt32(words[3], radix: 16) == Checksum.of(rest)
        else { throw .damage(.changed) }
        guard let line = rest.firstIndex(of: UInt8(ascii: "\n")),
            let header = try? JSONDecoder().decode(Header.self, from: rest[..<line])
        else { throw .damage(.header) }
        let snapshot = Snapshot(
            name: header.name, date: date(header.time), version: header.vector, validUntil: header.validUntil.map(date),
            nextMoment: header.next.map(date), content: Data(rest[(line + 1)...]), skipped: 0)
        return Raw(snapshot, encoding: header.content)
    }

    private static func number(_ word: Substring) -> Int? {
        word.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(word) : nil
    }

    private static func milliseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1_000).rounded()) ?? (date.timeIntervalSince1970 < 0 ? .min : .max)
    }

    private static func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    // MARK: Content

    /// How content is written unless an app says otherwise: keys in order, dates by ISO 8601 in UTC.
    package static func json(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(value)
    }

    static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }()
}
