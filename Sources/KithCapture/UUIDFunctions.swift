import GRDBSQLite
import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// `kith_uuid()` and `kith_uuid_text()`: new ids for `DEFAULT`s. They know nothing of a store, so that migrations can call them, too.
package enum UUIDFunctions {
    /// Registers them in place of earlier ones.
    ///
    /// - Parameter clock: the time in milliseconds since 1970.
    package static func install(on connection: OpaquePointer, clock: @escaping @Sendable () -> Int64) throws {
        let source = UUIDSource(clock)
        try register("kith_uuid", source, connection) { context, _, _ in
            UUIDFunctions.answer(context) { id in
                var bytes = (id.high.bigEndian, id.low.bigEndian)
                withUnsafeBytes(of: &bytes) { sqlite3_result_blob(context, $0.baseAddress, Int32($0.count), transientDestructor) }
            }
        }
        try register("kith_uuid_text", source, connection) { context, _, _ in
            UUIDFunctions.answer(context) { id in
                id.text(isUpperCase: false).withUnsafeBufferPointer { buffer in
                    buffer.withMemoryRebound(to: CChar.self) {
                        sqlite3_result_text64(context, $0.baseAddress, UInt64($0.count), transientDestructor, UInt8(SQLITE_UTF8))
                    }
                }
            }
        }
    }

    private static func answer(_ context: OpaquePointer?, _ body: (RowID) -> Void) {
        guard let pointer = sqlite3_user_data(context) else { return }
        body(Unmanaged<UUIDSource>.fromOpaque(pointer).takeUnretainedValue().next())
    }

    /// Innocuous, because `PRAGMA trusted_schema = OFF` lets a `DEFAULT` call nothing else; not deterministic, since each row gets another.
    private static func register(_ name: String, _ source: UUIDSource, _ connection: OpaquePointer, _ body: Functions.Body) throws {
        let reference = Unmanaged.passRetained(source).toOpaque()
        let code = sqlite3_create_function_v2(
            connection, name, 0, SQLITE_UTF8 | SQLITE_INNOCUOUS, reference, body, nil, nil,
            { pointer in if let pointer { Unmanaged<UUIDSource>.fromOpaque(pointer).release() } })
        if code != SQLITE_OK { throw SQLiteError(connection, code: code) }
    }
}

/// Draws UUIDs of version 7 (RFC 9562, section 5.7), each after the last: within a millisecond, or while the clock stands still or goes
/// back, 12 bits count on from a random number (section 6.2, method 1).
///
/// Used on the thread of its connection only.
package final class UUIDSource {
    private let clock: @Sendable () -> Int64
    private var random = SystemRandomNumberGenerator()
    private var milliseconds: UInt64 = 0
    private var count: UInt64 = 0

    package init(_ clock: @escaping @Sendable () -> Int64) {
        self.clock = clock
    }

    package func next() -> RowID {
        let now = UInt64(min(max(clock(), 0), (1 << 48) - 2))
        if now > milliseconds {
            milliseconds = now
            count = random.next() & 0x7FF
        } else if count < 0xFFF {
            count += 1
        } else {
            milliseconds = min(milliseconds + 1, (1 << 48) - 1)
            count = random.next() & 0x7FF
        }
        return RowID(high: milliseconds << 16 | 0x7000 | count, low: 0b10 << 62 | random.next() >> 2)
    }
}
