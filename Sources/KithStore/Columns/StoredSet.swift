import Foundation
import GRDB

/// A set column as a `Set`, written in the form in which all devices show it: each element once, in order.
///
///     struct Recipe: Codable { @StoredSet var labels: Set<String> = [] }
///
/// A plain `Set<String>` in a `Codable` record works, too, but is written in another order each time, so that saving a record is a
/// commit though nothing has changed.
@propertyWrapper
public struct StoredSet<Element: Codable & Hashable & Sendable>: Hashable, Sendable {
    /// The elements.
    public var wrappedValue: Set<Element>

    public init(wrappedValue: Set<Element>) {
        self.wrappedValue = wrappedValue
    }
}

extension StoredSet: Codable {
    /// Reads an array.
    public init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try Set(from: decoder))
    }

    /// Writes an array.
    public func encode(to encoder: any Encoder) throws {
        try wrappedValue.encode(to: encoder)
    }
}

extension StoredSet: DatabaseValueConvertible {
    /// A JSON array as text; NULL if an element has no JSON, such as a number that is not finite.
    public var databaseValue: DatabaseValue {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var elements: [[UInt8]] = []
        for element in wrappedValue {
            // In an array, because not every encoder takes a single value.
            guard let array = try? encoder.encode([element]) else { return .null }
            elements.append(Array(array.dropFirst().dropLast()))
        }
        elements.sort { $0.lexicographicallyPrecedes($1) }
        return ("[" + elements.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",") + "]").databaseValue
    }

    /// `nil` for what is no JSON array of such elements.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        guard let data = Data.fromDatabaseValue(value), let elements = try? JSONDecoder().decode(Set<Element>.self, from: data) else {
            return nil
        }
        return Self(wrappedValue: elements)
    }
}
