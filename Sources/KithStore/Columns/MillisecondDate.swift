import Foundation
import GRDB

/// A moment that a column holds as INTEGER, milliseconds since 1970, which sorts and compares in SQL.
///
///     struct Recipe: Codable { @MillisecondDate var updated: Date }
///
/// Cut to milliseconds when it is made, so that a record that is saved as it was read changes nothing.
@propertyWrapper
public struct MillisecondDate: Hashable, Sendable {
    private var milliseconds: Int64

    /// The moment.
    public var wrappedValue: Date {
        get { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
        set { milliseconds = Self.milliseconds(newValue) }
    }

    public init(wrappedValue: Date) {
        milliseconds = Self.milliseconds(wrappedValue)
    }

    /// The whole milliseconds that have passed, or the nearest that a column can hold. A date that was made of whole ones has them again,
    /// though a `Date` is no exact number of them.
    static func milliseconds(_ date: Date) -> Int64 {
        let exact = date.timeIntervalSince1970 * 1_000
        let nearest = exact.rounded()
        let number = Date(timeIntervalSince1970: nearest / 1_000) == date ? nearest : exact.rounded(.down)
        return Int64(exactly: number) ?? (number < 0 ? .min : .max)
    }

    private init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }
}

extension MillisecondDate: Codable {
    /// Reads the number of milliseconds.
    public init(from decoder: any Decoder) throws {
        self.init(milliseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    /// Writes the number of milliseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}

extension MillisecondDate: DatabaseValueConvertible {
    /// The number of milliseconds.
    public var databaseValue: DatabaseValue { milliseconds.databaseValue }

    /// `nil` for what is no integer.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        Int64.fromDatabaseValue(value).map(Self.init(milliseconds:))
    }
}
