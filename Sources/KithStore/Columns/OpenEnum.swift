import GRDB

/// An enumeration that keeps the values it does not know: newer versions of the app on other devices write them.
///
///     enum Course: String { case starter, main, dessert }
///     struct Recipe: Codable { var course: OpenEnum<Course> }      // .known(.main), or .unknown("brunch")
///
/// A record that is read with such a value and saved leaves it as it was.
public enum OpenEnum<Known: RawRepresentable> {
    /// One of the cases that this version of the app has.
    case known(Known)
    /// The value of another version.
    case unknown(Known.RawValue)
}

extension OpenEnum: RawRepresentable {
    /// Never fails.
    public init(rawValue: Known.RawValue) {
        self = Known(rawValue: rawValue).map(Self.known) ?? .unknown(rawValue)
    }

    /// As the column holds it.
    public var rawValue: Known.RawValue {
        switch self {
        case .known(let known): known.rawValue
        case .unknown(let raw): raw
        }
    }

    /// The case, if this version of the app has it.
    public var known: Known? {
        if case .known(let known) = self { known } else { nil }
    }
}

extension OpenEnum: Equatable where Known.RawValue: Equatable {
    /// Whether the column holds the same for both.
    public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }
}

extension OpenEnum: Hashable where Known.RawValue: Hashable {
    /// Hashes what the column holds.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension OpenEnum: Sendable where Known: Sendable, Known.RawValue: Sendable {}

extension OpenEnum: Codable where Known.RawValue: Codable {
    /// Reads the raw value.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(Known.RawValue.self))
    }

    /// Writes the raw value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension OpenEnum: SQLExpressible where Known.RawValue: DatabaseValueConvertible {}

extension OpenEnum: StatementBinding where Known.RawValue: DatabaseValueConvertible {
    /// Binds the raw value.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt { rawValue.bind(to: sqliteStatement, at: index) }
}

extension OpenEnum: DatabaseValueConvertible where Known.RawValue: DatabaseValueConvertible {
    /// The raw value's.
    public var databaseValue: DatabaseValue { rawValue.databaseValue }

    /// `nil` if the column holds what no raw value can be.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        guard let raw = Known.RawValue.fromDatabaseValue(value) else { return nil }
        return Self(rawValue: raw)
    }
}
