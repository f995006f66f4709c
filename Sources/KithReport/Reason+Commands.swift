import Kith

/// What a person can do about it with the commands of `kith`.
extension NodeStatus {
    /// The same status for people at a command line and for its page.
    package var inCommands: NodeStatus {
        var status = self
        status.remedy = reason.map { $0.commands } ?? remedy
        return status
    }
}

extension NodeStatus.Reason {
    fileprivate var commands: String? {
        switch self {
        case .notRunning, .runsElsewhere, .cannotRun: remedy
        case .noNetwork: "Plug in the cable or join the Wi-Fi; the node goes on by itself."
        case .storeFails: "Your notes are safe here. Mend this, and the node goes on by itself."
        case .noDevice:
            "To synchronise, run `kith pair` on both machines, "
                + "or `kith device add ID` with the id that `kith device id` shows on the other."
        case .noOtherMember: "To synchronise, run `kith pair` on both machines."
        case .removed:
            "Your notes are all here. To come back, run `kith pair` here and on a device of the household; "
                + "to stay alone, `kith household leave`."
        case .left:
            "Your notes are all here. The others hear of it as soon as one of them is reached; "
                + "to come back, run `kith pair` here and on one of them."
        case .joining: "Let `kith up` run on the device that it was paired with; it joins by itself when they meet."
        case .ownKeyTwice, .keyTwice: Self.twinCommands
        case .unproven(let devices):
            "Everything is kept here, and is sent as soon as \(Self.owner(of: devices)) was met. "
                + "If that device is gone for good, remove it from the household: `kith device revoke NAME`."
        case .refused:
            "It may have been removed on another device. Your notes are all here; "
                + "to share them again, run `kith pair` here and on one of the others."
        case .notReachable(_, let withoutDiscovery?):
            "Devices cannot be found by mDNS here (\(withoutDiscovery)). "
                + "Start the mDNS daemon, or give an address: `kith device add ID --address HOST:PORT`."
        case .notReachable(_, nil):
            "It catches up by itself when a device appears. Is `kith up` running there, and does it trust this device?"
        case .silent: "It may be stopped, or the machine was asleep until now. If this stays, end it and run `kith up` again."
        }
    }

    package static let twinCommands =
        "Run `kith device renew` on one of them, and pair the other one again (`kith pair`); what both wrote is kept."
}
