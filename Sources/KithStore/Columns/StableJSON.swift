import Foundation
import GRDB

/// A value that a column holds as JSON, written with sorted keys: equal values are one text. What is saved as it was read is the text that
/// was read, whoever wrote it, and so no change that other devices would have to be told.
///
///     struct Recipe: Codable { @StableJSON var nutrition: Nutrition }
///
/// The column merges as a whole. Parts that several people change at once are better columns of their own.
@propertyWrapper
public struct StableJSON<Value: Codable & Sendable>: Sendable {
    /// The value.
    public var wrappedValue: Value {
        didSet { read = nil }
    }
    /// What the column held, until the value is set.
    private var read: DatabaseValue?

    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension StableJSON: Equatable where Value: Equatable {
    public static func == (a: Self, b: Self) -> Bool { a.wrappedValue == b.wrappedValue }
}

extension StableJSON: Hashable where Value: Hashable {
    public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}

extension StableJSON: Codable {
    /// Reads the value itself.
    public init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try Value(from: decoder))
    }

    /// Writes the value itself.
    public func encode(to encoder: any Encoder) throws {
        try wrappedValue.encode(to: encoder)
    }
}

extension StableJSON: DatabaseValueConvertible {
    /// The JSON as text; NULL for a value that has none, such as one that holds a number that is not finite.
    public var databaseValue: DatabaseValue {
        if let read { return read }
        guard let data = try? Self.encoder.encode(wrappedValue) else { return .null }
        return String(decoding: data, as: UTF8.self).databaseValue
    }

    /// `nil` for what is no JSON of such a value.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        guard let data = Data.fromDatabaseValue(value), let decoded = try? JSONDecoder().decode(Value.self, from: data) else { return nil }
        var json = Self(wrappedValue: decoded)
        json.read = value
        return json
    }
}
