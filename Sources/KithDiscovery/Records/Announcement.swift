/// What somebody on the network says about a node. All of it is only a hint: anyone can announce anything, under any name.
public struct Announcement: Hashable, Sendable {
    public let name: InstanceName
    /// The host name of the machine, as in `study.local.`.
    public let host: String
    public let port: UInt16
    /// 1 to 8 addresses, those that reach furthest first.
    public let addresses: [HostAddress]
    /// Empty when what was announced could not be read.
    public let attributes: TXTRecord
}
