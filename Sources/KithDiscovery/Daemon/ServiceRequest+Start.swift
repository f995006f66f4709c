import CDNSSD

/// The service type and domain of every announcement.
private let serviceType = "_kith._tcp"
private let serviceDomain = "local."

extension ServiceRequest {
    /// Starts the operation. `context` is an unretained `ServiceOperation.Context`, which collects the answers.
    func start(_ reference: inout DNSServiceRef?, context: UnsafeMutableRawPointer) -> DNSServiceErrorType {
        let anyInterface = UInt32(kDNSServiceInterfaceIndexAny)
        switch self {
        case .browse:
            return DNSServiceBrowse(&reference, 0, anyInterface, serviceType, serviceDomain, browsed, context)
        case .register(let advertisement):
            let text = advertisement.attributes.wire
            return DNSServiceRegister(
                &reference, 0, anyInterface, advertisement.name.description, serviceType, serviceDomain, nil,
                advertisement.port.bigEndian, UInt16(clamping: text.count), text, registered, context)
        case .resolve(let sighting):
            return DNSServiceResolve(
                &reference, 0, sighting.interface, sighting.name.description, serviceType, serviceDomain, resolved, context)
        case .addresses(let host, let family, let interface):
            let type = family == .ipv4 ? kDNSServiceType_A : kDNSServiceType_AAAA
            return DNSServiceQueryRecord(
                &reference, 0, interface, host, UInt16(type), UInt16(kDNSServiceClass_IN), answered, context)
        }
    }
}

/// Adds to the operation that `context` belongs to: its failure, or what `reply` makes of the answer. Answers that cannot be read are dropped.
private func collect(_ context: UnsafeMutableRawPointer?, _ code: DNSServiceErrorType, _ reply: () -> ServiceReply?) {
    guard let context else { return }
    let operation = Unmanaged<ServiceOperation.Context>.fromOpaque(context).takeUnretainedValue()
    // "No such record" is an answer: the host has no address of that family now.
    guard code != kDNSServiceErr_NoSuchRecord else { return }
    guard code == kDNSServiceErr_NoError else { return operation.replies.append(.failed(code: code)) }
    if let reply = reply() { operation.replies.append(reply) }
}

private func instanceName(_ text: UnsafePointer<CChar>?) -> InstanceName? {
    text.flatMap { InstanceName(bytes: String(cString: $0).utf8) }
}

private let browsed: DNSServiceBrowseReply = { _, flags, interface, code, name, _, _, context in
    collect(context, code) {
        guard let name = instanceName(name) else { return nil }
        return .sighted(Sighting(name: name, interface: interface), isPresent: flags & UInt32(kDNSServiceFlagsAdd) != 0)
    }
}

private let registered: DNSServiceRegisterReply = { _, _, code, name, _, _, context in
    collect(context, code) { instanceName(name).map(ServiceReply.registered) }
}

private let resolved: DNSServiceResolveReply = { _, _, _, code, _, host, port, textLength, text, context in
    collect(context, code) {
        guard let host = host.flatMap({ String(validatingCString: $0) }), !host.isEmpty else { return nil }
        let wire = text.map { Array(UnsafeBufferPointer(start: $0, count: Int(textLength))) } ?? []
        return .resolved(host: host, port: UInt16(bigEndian: port), text: wire)
    }
}

private let answered: DNSServiceQueryRecordReply = { _, flags, interface, code, _, type, _, length, data, _, context in
    collect(context, code) {
        guard Int32(type) == Int32(kDNSServiceType_A) || Int32(type) == Int32(kDNSServiceType_AAAA), let data else { return nil }
        let bytes = UnsafeRawBufferPointer(start: data, count: Int(length))
        guard let address = HostAddress(bytes: bytes, interface: interface) else { return nil }
        return .address(address, isPresent: flags & UInt32(kDNSServiceFlagsAdd) != 0)
    }
}
