import Foundation
import GRDB

/// A set column as a `Set`, written in the form in which all devices show it: each element once, in order.
///
///     struct Recipe: Codable { @StoredSet var labels: Set<String> = [] }
///
/// A plain `Set<String>` in a `Codable` record works, too, but is written in another order each time, so that saving a record is a
/// commit though nothing has changed.
///
/// Elements that are equal in Swift and not in SQL, such as a text with its accents in two forms, are one in the `Set`. What was read of
/// them stays in the column as long as the `Set` has that one.
@propertyWrapper
public struct StoredSet<Element: Codable & Hashable & Sendable>: Sendable {
    /// The elements.
    public var wrappedValue: Set<Element>
    /// What was read beside an equal element.
    private var twins: [Element] = []

    public init(wrappedValue: Set<Element>) {
        self.wrappedValue = wrappedValue
    }

    private init(read elements: [Element]) {
        wrappedValue = []
        for element in elements where !wrappedValue.insert(element).inserted { twins.append(element) }
    }

    private var all: [Element] { wrappedValue + twins.filter(wrappedValue.contains) }
}

extension StoredSet: Hashable {
    public static func == (a: Self, b: Self) -> Bool { a.wrappedValue == b.wrappedValue }

    public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}

extension StoredSet: Codable {
    /// Reads an array.
    public init(from decoder: any Decoder) throws {
        self.init(read: try Array(from: decoder))
    }

    /// Writes an array.
    public func encode(to encoder: any Encoder) throws {
        try all.encode(to: encoder)
    }
}

extension StoredSet: DatabaseValueConvertible {
    /// A JSON array as text; NULL if an element has no JSON, such as a number that is not finite.
    public var databaseValue: DatabaseValue {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var elements: [[UInt8]] = []
        for element in all {
            // In an array, because not every encoder takes a single value.
            guard let array = try? encoder.encode([element]) else { return .null }
            elements.append(Array(array.dropFirst().dropLast()))
        }
        // One that stood there twice is in it once.
        elements = Set(elements).sorted { $0.lexicographicallyPrecedes($1) }
        return ("[" + elements.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",") + "]").databaseValue
    }

    /// `nil` for what is no JSON array of such elements.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        guard let data = Data.fromDatabaseValue(value), let elements = try? JSONDecoder().decode([Element].self, from: data) else {
            return nil
        }
        return Self(read: elements)
    }
}
