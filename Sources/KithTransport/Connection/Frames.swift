/// The frames that arrive on a connection. See `Connection.frames`.
package struct Frames: AsyncSequence, Sendable {
    package typealias Element = [UInt8]
    package typealias Failure = TransportError

    // The connection ends with its last user, so who reads keeps it.
    let connection: Connection

    package func makeAsyncIterator() -> Iterator {
        Iterator(connection: connection)
    }

    package struct Iterator: AsyncIteratorProtocol {
        let connection: Connection

        package mutating func next() async throws(TransportError) -> [UInt8]? {
            try await connection.inbound.next(isolation: nil)
        }

        package mutating func next(isolation actor: isolated (any Actor)?) async throws(TransportError) -> [UInt8]? {
            try await connection.inbound.next(isolation: actor)
        }
    }
}
