/// What somebody on the network says about a node. All of it is only a hint: anyone can announce anything, under any name.
package struct Announcement: Hashable, Sendable {
    package let name: InstanceName
    /// The host name of the machine, as in `study.local.`.
    package let host: String
    package let port: UInt16
    /// 1 to 8 addresses, those that reach furthest first.
    package let addresses: [HostAddress]
    /// Empty when what was announced could not be read.
    package let attributes: TXTRecord
}
