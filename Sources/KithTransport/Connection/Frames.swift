/// The frames that arrive on a connection. See `Connection.frames`.
public struct Frames: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = TransportError

    // The connection ends with its last user, so who reads keeps it.
    let connection: Connection

    public func makeAsyncIterator() -> Iterator {
        Iterator(connection: connection)
    }

    public struct Iterator: AsyncIteratorProtocol {
        let connection: Connection

        public mutating func next() async throws(TransportError) -> [UInt8]? {
            try await connection.inbound.next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransportError) -> [UInt8]? {
            try await connection.inbound.next(isolation: actor)
        }
    }
}
