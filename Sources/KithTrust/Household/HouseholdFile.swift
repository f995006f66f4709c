import Foundation

/// The file that holds the household, beside the device key and not in the database: it is this device's, it is needed before any
/// store is open, it contains a secret, and a copy of the notes must not take it along.
///
///     {"version": 2, "household": "base64", "records": "base64", "check": "base64",
///      "secrets": [{"number": 1, "secret": "base64"}], "keys": ["base64"]}
///
/// The records stand one after the other, each with its length in two bytes before it. Their signatures were verified before they were
/// written and are not verified again: who can write this file can also say whom this device trusts. The check, their SHA-256, finds damage.
enum HouseholdFile {
    static let name = "household.json"
    /// Largest file that is read: a full household in base64.
    static let bytesMax = 16 * 1024 * 1024
    static let version: Int64 = 2

    private enum Key {
        static let version = "version"
        static let household = "household"
        static let records = "records"
        static let check = "check"
        static let imported = "imported"
        static let secrets = "secrets"
        static let number = "number"
        static let secret = "secret"
        static let keys = "keys"
    }

    /// The household in the file at `path`; `nil` without a file.
    static func read(_ path: String) throws(TrustError) -> Household? {
        guard let bytes = try PrivateFile.read(path, bytesMax: bytesMax, forbiddenMode: 0o077) else { return nil }
        return try household(json: bytes, path: path)
    }

    static func write(_ household: Household?, to path: String) throws(TrustError) {
        if let household { return try PrivateFile.replace(path, with: json(of: household)) }
        try PrivateFile.remove(path)
    }

    // MARK: Format

    static func household(json bytes: [UInt8], path: String) throws(TrustError) -> Household {
        func corrupted(_ what: String) -> TrustError {
            TrustError(
                .corruptedHousehold,
                "The household \(path) is damaged (\(what)) and was left as it is. Move it away and pair this device again; the notes are not in it."
            )
        }
        guard let fields = (try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)))?.object else {
            throw corrupted("not a JSON object")
        }
        guard let version = fields[Key.version]?.integer else { throw corrupted("no version") }
        guard version <= Self.version else {
            throw TrustError(
                .newerList,
                "The household \(path) was written by a newer version of Kith and was left as it is. Update Kith on this machine.")
        }
        guard version == Self.version else { throw corrupted("of an earlier version") }
        guard let id = fields[Key.household].flatMap(data).flatMap({ HouseholdID(bytes: $0) }) else { throw corrupted("no household") }
        guard let all = fields[Key.records].flatMap(data), fields[Key.check].flatMap(data) == PairingHash.sha256(all),
            let pieces = HouseholdMessage.records(all[...]), let records = try? RecordClaim.restored(pieces)
        else { throw corrupted("the records") }
        var secrets: [HouseholdSecret] = []
        for entry in fields[Key.secrets]?.array ?? [] {
            guard let number = entry.object?[Key.number]?.integer.flatMap({ UInt32(exactly: $0) }),
                let secret = entry.object?[Key.secret].flatMap(data).flatMap({ HouseholdSecret(number: number, bytes: $0) })
            else { throw corrupted("secret \(secrets.count + 1)") }
            secrets.append(secret)
        }
        var household = Household(joining: id)
        household.secrets = HouseholdSecret.merged(secrets, [])
        household.isImported = fields[Key.imported] == .bool(true)
        household.shownKeys = Set((fields[Key.keys]?.array ?? []).compactMap(data))
        // All fit, or fitted in the version that wrote them.
        _ = try? household.membership.insert(records)
        return household
    }

    static func json(of household: Household) throws(TrustError) -> [UInt8] {
        let records = HouseholdMessage.records(household.membership.records.map(\.bytes)).encoded.dropFirst()
        var fields: [String: JSONValue] = [
            Key.version: .integer(version), Key.household: value(household.id.bytes),
            Key.records: value(Array(records)), Key.check: value(PairingHash.sha256(Array(records))),
            Key.secrets: .array(
                household.secrets.map { .object([Key.number: .integer(Int64($0.number)), Key.secret: value($0.bytes)]) }),
        ]
        if household.isImported { fields[Key.imported] = .bool(true) }
        if !household.shownKeys.isEmpty {
            fields[Key.keys] = .array(household.shownKeys.sorted { $0.lexicographicallyPrecedes($1) }.map(value))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return try Array(encoder.encode(JSONValue.object(fields))) + [UInt8(ascii: "\n")]
        } catch {
            throw TrustError(.fileSystem, "The household cannot be written: \(error)")
        }
    }

    private static func value(_ bytes: [UInt8]) -> JSONValue { .string(Data(bytes).base64EncodedString()) }

    private static func data(_ value: JSONValue) -> [UInt8]? { value.string.flatMap { Data(base64Encoded: $0) }.map(Array.init) }
}
