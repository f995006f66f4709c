import Kith

/// What to do about a finding with the commands of `kith`.
extension DiagnosisFinding {
    /// The same finding for people at a command line and for its page.
    var inCommands: DiagnosisFinding {
        var finding = self
        if let advice { finding.remedy = advice.commands }
        return finding
    }
}

extension DiagnosisFinding.Advice {
    fileprivate var commands: String {
        switch self {
        case .pair: "Run `kith pair` here and on the other device at the same time."
        case .pairOrStayAlone: "Run `kith pair` here and on a device of the household, or `kith household leave` to stay alone."
        case .pairOrWait: "Run `kith pair` here and on another device, or let `kith up` run here until they have."
        case .letBothRun: "Let `kith up` run here and on the device that it was paired with."
        case .start: "Start it: kith up"
        case .allowDiscovery: "Leave out --no-discovery."
        case .startDiscovery: "Start the mDNS daemon, or give addresses: kith device add ID --address HOST:PORT"
        case .lookForBarriers:
            "If the other device runs `kith up` on this very network: a VPN, a guest network or an access point that holds back multicast "
                + "keeps it from being heard. Give its address: kith device add ID --address HOST:PORT"
        case .renewKey: NodeStatus.Reason.twinCommands
        case .renewOwnKey:
            "Run `kith device renew` here, and pair again what this device had added and the others have left out (`kith pair`); no note is lost."
        case .waitOrUpdate: "The node tries again by itself. Update Kith on both devices if this stays."
        case .startThereOrGiveAddress:
            "Start `kith up` there, on this network, or give its address: kith device add ID --address HOST:PORT"
        case .pairAgain: "It does not trust this device. Pair the two again: kith pair, on both."
        case .correctAddress: "Somebody else is at this address. Correct it: kith device add ID --address HOST:PORT"
        case .startThere: "Start `kith up` there. If it runs, look whether its port is another one: kith status"
        case .correctName: "Correct the address: kith device add ID --address HOST:PORT"
        case .updateBoth: "Something else answers there, or another version. Update Kith on both."
        case .tryAgain: "Try again; if this stays, look at `kith up --verbose` on both."
        case .makeRoom, .joinNetwork, .setClocks, .setBothClocks, .checkCables, .openFirewall: sentence
        }
    }
}
