import Kith

extension MassDeletion {
    /// What happened to the notes, in plain words.
    ///
    /// - Parameter day: when, as "today".
    public func sentence(_ names: DeviceNames, day: String) -> String {
        "\(name(names)) deleted \(NodeStatus.grouped(rows)) of \(NodeStatus.grouped(total)) notes \(day)."
    }

    private func name(_ names: DeviceNames) -> String {
        if case .device(let bytes) = author, names[author] == nil, let id = DeviceID(bytes: bytes) { return id.shortDescription }
        return names[author] ?? "Another machine"
    }
}
