extension DiagnosisFinding {
    /// What to do about a finding: for programs, and for whoever makes sentences of their own.
    public enum Advice: String, Codable, Hashable, CaseIterable, Sendable {
        /// Pair this device with another one.
        case pair
        /// Pair it with one of the household, or leave for good.
        case pairOrStayAlone
        /// Pair it with another one, or run it until a member has heard that it left.
        case pairOrWait
        /// Let the node run here and on the device that it was paired with.
        case letBothRun
        /// Start the node.
        case start
        /// Make room on the disk.
        case makeRoom
        /// Connect this machine to a network.
        case joinNetwork
        /// Let devices be looked for by mDNS.
        case allowDiscovery
        /// Start the mDNS daemon, or give addresses.
        case startDiscovery
        /// Something between the two may hold back multicast.
        case lookForBarriers
        /// Give one of two machines a new key.
        case renewKey
        /// Give this device a new key, and pair again what it had added and the others left out.
        case renewOwnKey
        /// Set the clocks, by which devices may not find each other.
        case setClocks
        /// Set both clocks, by which times are shown wrong.
        case setBothClocks
        /// Look at the cables and the Wi-Fi.
        case checkCables
        /// Wait, or update both.
        case waitOrUpdate
        /// Start the node there, or give its address.
        case startThereOrGiveAddress
        /// Pair the two again.
        case pairAgain
        /// Another device is at this address.
        case correctAddress
        /// A firewall may be between.
        case openFirewall
        /// Start the node there, or look at its port.
        case startThere
        /// No host has this name.
        case correctName
        /// Update both.
        case updateBoth
        /// Try again.
        case tryAgain
    }
}

extension DiagnosisFinding.Advice {
    /// In words that fit any app.
    public var sentence: String {
        switch self {
        case .pair: "Pair this device and the other one at the same time."
        case .pairOrStayAlone: "Pair it with a device of the household, or leave the household to stay alone."
        case .pairOrWait: "Pair it with another device, or let the app run here until they have."
        case .letBothRun: "Let the app run here and on the device that it was paired with."
        case .start: "Start it."
        case .makeRoom: "Make room; synchronising goes on by itself."
        case .joinNetwork: "Plug in the cable, or join the Wi-Fi."
        case .allowDiscovery: "Let the app look for devices by mDNS."
        case .startDiscovery: "Start the mDNS daemon, or give addresses."
        case .lookForBarriers:
            "If the app runs on the other device, on this very network: a VPN, a guest network or an access point that holds back multicast "
                + "keeps it from being heard. Give its address."
        case .renewKey: "Give one of them a new key, and pair the other one again; what both wrote is kept."
        case .renewOwnKey: "Give this device a new key, and pair again what it had added and the others have left out; no data is lost."
        case .setClocks: "Set the clocks. Devices that are more than a day apart may not find each other by mDNS."
        case .setBothClocks:
            "Set both clocks. Until then, and of what was written meanwhile, times are shown wrong or as unknown, the trash and the history "
                + "seem older or newer than they are, and it may not be found by mDNS."
        case .checkCables: "Is the cable in, the Wi-Fi on, there and here? The node finds out by itself within a minute."
        case .waitOrUpdate: "It is tried again by itself. Update the app on both devices if this stays."
        case .startThereOrGiveAddress: "Start the app there, on this network, or give its address."
        case .pairAgain: "It does not trust this device. Pair the two again."
        case .correctAddress: "Another device is at this address. Correct it."
        case .openFirewall: "A firewall may hold the connection back, there or in between. Let TCP to this port through."
        case .startThere: "Start the app there. If it runs, look whether its port is another one."
        case .correctName: "Correct the address."
        case .updateBoth: "Something else answers there, or another version. Update the app on both."
        case .tryAgain: "Try again; if this stays, look at the logs of both."
        }
    }
}
