/// What the mDNS daemon says to a `ServiceRequest`.
enum ServiceReply: Hashable, Sendable {
    case sighted(Sighting, isPresent: Bool)
    /// The name that was registered, which is another one than asked for when that was taken.
    case registered(InstanceName)
    case resolved(host: String, port: UInt16, text: [UInt8])
    case address(HostAddress, isPresent: Bool)
    /// The operation has failed and answers no more. `code` is a `DNSServiceErrorType`.
    case failed(code: Int32)
}
