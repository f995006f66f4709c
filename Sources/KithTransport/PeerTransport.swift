import KithTrust

/// What makes connections to devices: TLS over the network (``Transport``), or a pipe within the process (``InProcessTransport``).
package protocol PeerTransport: Sendable {
    /// Accepted connections, authenticated. To be read by one task; ends with `close()`.
    var incoming: AsyncStream<Connection> { get }

    /// Accepts connections; they come out of `incoming`. Returns the port.
    func listen(host: String, port: Int) async throws(TransportError) -> Int

    /// Connects to a device: to `expected` if that is not `nil`, or to whichever admitted one is there.
    func dial(host: String, port: Int, expecting expected: DeviceID?, timeoutMilliseconds: Int) async throws(TransportError) -> Connection

    /// Stops listening and ends `incoming`. Connections that were taken go on.
    func close() async
}

extension Transport: PeerTransport {}
