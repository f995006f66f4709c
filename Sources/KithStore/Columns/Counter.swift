import GRDB

/// The value of a counter column: an INTEGER whose changes on several devices add up.
///
///     struct Recipe: Codable { var cooked = Counter() }
///
///     recipe.cooked += 1; try recipe.update(db)        // read and saved in one transaction: others' increments stay
///     try Recipe.filter(id: id).updateAll(db, Recipe.Columns.cooked += 1)      // needs no reading
///
/// What is saved is the number. Between a read and a save in different transactions others may have counted; what they added would be
/// taken back. ``save(_:as:of:column:)`` saves what was added since the read instead.
public struct Counter: Hashable, Sendable {
    /// The number that the column shows.
    public private(set) var value: Int64
    /// What was added since it was read, or made.
    public private(set) var added: Int64 = 0

    public init(_ value: Int64 = 0) {
        self.value = value
    }

    /// Adds, without a trap: a number that no column can hold is the nearest that one can.
    public static func += (counter: inout Counter, amount: Int64) {
        counter.value = counter.value.addingClamped(amount)
        counter.added = counter.added.addingClamped(amount)
    }

    /// Subtracts, likewise.
    public static func -= (counter: inout Counter, amount: Int64) {
        if amount == .min {
            counter += .max
            counter += 1
        } else {
            counter += -amount
        }
    }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, isOverflow) = addingReportingOverflow(other)
        return isOverflow ? (other > 0 ? .max : .min) : sum
    }
}

extension Counter: Codable {
    /// Reads the number.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Int64.self))
    }

    /// Writes the number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension Counter: DatabaseValueConvertible {
    /// The number.
    public var databaseValue: DatabaseValue { value.databaseValue }

    /// `nil` for what is no integer.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        Int64.fromDatabaseValue(value).map { Self($0) }
    }
}

extension Counter {
    /// Adds to the column what was added here since the record was read, however long ago that was.
    ///
    /// - Parameters:
    ///   - key: the row's key as the table holds it.
    ///   - column: the counter.
    /// - Returns: whether the row is there. This counter shows the row's number then, with nothing left to save.
    @discardableResult
    public mutating func save<Record: TableRecord>(
        _ db: Database, as record: Record.Type, of key: some DatabaseValueConvertible, column: some ColumnExpression
    ) throws -> Bool {
        let keys = try db.primaryKey(Record.databaseTableName).columns
        guard keys.count == 1 else { return false }
        let rows = Record.filter(Column(keys[0]) == key)
        guard try rows.updateAll(db, Column(column.name).set(to: Column(column.name) + added)) > 0 else { return false }
        value = try Int64.fetchOne(db, rows.select(Column(column.name))) ?? value
        added = 0
        return true
    }
}
