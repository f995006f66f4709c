extension NodeStatus {
    /// Why a node does not synchronise, or not as it should: for programs, and for whoever makes sentences of their own.
    public enum Reason: Codable, Hashable, Sendable {
        /// It was not started, or was stopped.
        case notRunning
        /// It stands by: another process of this machine synchronises the same file, and has not said yet how that goes.
        case runsElsewhere
        /// It was to run and cannot, as this error says; it is tried again.
        case cannotRun(String)
        /// The store cannot be read or written, as this error says: a full disk, for instance. It is tried again.
        case storeFails(String)
        /// No other device is trusted.
        case noDevice
        /// This device is in a household, alone.
        case noOtherMember
        /// This device was removed from its household by another one.
        case removed
        /// This device has left its household, and the others have not heard of it yet.
        case left
        /// This device joins a household, and has not met a member yet.
        case joining
        /// Another machine, at this address, uses the key of this one.
        case ownKeyTwice(at: String)
        /// Two machines, at these addresses, use the key of this device.
        case keyTwice(device: String, at: [String])
        /// The store is a copy of one of these devices, with changes that were never signed there: nothing is sent until one was met.
        case unproven(of: [String])
        /// This machine is connected to no network; these cards lead nowhere.
        case noNetwork(cards: [String])
        /// Every trusted device that was reached says that it does not trust this one.
        case refused(by: [String])
        /// None of so many devices can be reached. Without mDNS, for this reason, only those with an address are found.
        case notReachable(devices: Int, withoutDiscovery: String?)
        /// The process that runs the node has said nothing for so many milliseconds.
        case silent(milliseconds: Int64)
    }
}

extension NodeStatus.Reason {
    /// What a person can do about it, in words that fit any app; `nil` where nothing is to be done.
    public var remedy: String? {
        switch self {
        case .notRunning, .runsElsewhere: nil
        case .cannotRun: "It is tried again by itself."
        case .storeFails: "Your data is safe here. Mend this, and it goes on by itself."
        case .noDevice, .noOtherMember: "To synchronise, pair this device with another one."
        case .removed: "Your data is all here. To come back, pair this device with one of the household."
        case .left:
            "Your data is all here. The others hear of it as soon as one of them is reached; to come back, pair this device with one of them."
        case .joining: "Let the app run on the device that this one was paired with; it joins by itself when they meet."
        case .ownKeyTwice, .keyTwice: "Give one of them a new key, and pair the other one again; what both wrote is kept."
        case .unproven(let devices):
            "Everything is kept here, and is sent as soon as \(Self.owner(of: devices)) was met. If that device is gone for good, remove it "
                + "from the household."
        case .noNetwork: "Plug in the cable or join the Wi-Fi; it goes on by itself."
        case .refused: "This device may have been removed on another one. Your data is all here; to share it again, pair the two anew."
        case .notReachable(_, let withoutDiscovery?):
            "Devices cannot be found by mDNS here (\(withoutDiscovery)). Start the mDNS daemon, or give an address."
        case .notReachable(_, nil): "It catches up by itself when a device appears. Does the app run there, and does it trust this device?"
        case .silent: "The process may be stopped, or the machine was asleep until now. If this stays, end it and start it again."
        }
    }

    /// The devices that a store is a copy of, for people.
    package static func owner(of devices: [String]) -> String { devices.isEmpty ? "another device" : NodeStatus.list(devices) }

    /// Words for the state, without what can be done.
    var sentence: String {
        switch self {
        case .notRunning: "Stopped: nothing is sent or received until the node runs again."
        case .runsElsewhere: "Standing by: another process of this machine synchronises the same file."
        case .cannotRun(let error), .storeFails(let error): "Not synchronising: \(error)"
        case .noDevice: "Local only: no other device is trusted, so nothing leaves this machine."
        case .noOtherMember: "Local only: no other device is in the household, so nothing leaves this machine."
        case .removed: "Local only: this device was removed from its household, so nothing leaves this machine."
        case .left: "Local only: this device has left its household, so nothing leaves this machine."
        case .joining: "Waiting: this device joins a household and has not met a member yet."
        case .ownKeyTwice(let host): "This device's key is in use on two machines: this one and another at \(host)."
        case .keyTwice(let device, let hosts): NodeStatus.sentence(onTwins: hosts, of: device)
        case .unproven(let devices):
            "Only receiving: this store is a copy of one of \(Self.owner(of: devices)), with changes that were never signed there."
        case .noNetwork(let cards):
            "Waiting: this machine is connected to no network\(cards.isEmpty ? "" : " (\(cards.joined(separator: ", ")))")."
        case .refused(let devices): "Refused: \(NodeStatus.list(devices)) \(devices.count == 1 ? "refuses" : "refuse") this device."
        case .notReachable(let devices, _):
            "Waiting: \(devices == 1 ? "the other device cannot" : "none of \(devices) devices can") be reached right now."
        case .silent(let milliseconds):
            "Not responding: nothing was heard of the node for \(PlainDuration.text(milliseconds: milliseconds))."
        }
    }

    /// The state that it goes with.
    var state: NodeStatus.State {
        switch self {
        case .notRunning, .runsElsewhere: .stopped
        case .cannotRun, .storeFails, .ownKeyTwice, .keyTwice, .unproven, .silent: .stalled
        case .noDevice, .noOtherMember, .removed, .left: .localOnly
        case .joining, .noNetwork, .refused, .notReachable: .waiting
        }
    }
}
