/// What this node says about itself. The name and attributes travel in the clear to everybody on the network.
public struct Advertisement: Hashable, Sendable {
    public var name: InstanceName
    /// The TCP port the node listens on.
    public var port: UInt16
    public var attributes: TXTRecord

    /// - Parameter name: by default random, so that it tells a stranger neither a user nor a machine.
    public init(name: InstanceName? = nil, port: UInt16, attributes: TXTRecord = TXTRecord()) {
        var generator = SystemRandomNumberGenerator()
        self.name = name ?? .random(using: &generator)
        self.port = port
        self.attributes = attributes
    }
}
