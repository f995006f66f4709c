/// What this node says about itself. The name and attributes travel in the clear to everybody on the network.
package struct Advertisement: Hashable, Sendable {
    package var name: InstanceName
    /// The TCP port the node listens on.
    package var port: UInt16
    package var attributes: TXTRecord

    /// - Parameter name: by default random, so that it tells a stranger neither a user nor a machine.
    package init(name: InstanceName? = nil, port: UInt16, attributes: TXTRecord = TXTRecord()) {
        var generator = SystemRandomNumberGenerator()
        self.name = name ?? .random(using: &generator)
        self.port = port
        self.attributes = attributes
    }
}
