import Foundation
import KithDiscovery
import KithSync
import KithTransport
import KithTrust
import Logging

extension Network {
    /// Announces this node for as long as the task runs: under another name and with another tag each hour, and whenever the
    /// secret changes. A device without a household announces itself without a tag. All say, by a mark, which app they are of.
    func announce(port: Int, by discovery: Discovery) async {
        var last: AnnouncementTag?
        var isFirst = true
        while !Task.isCancelled {
            let tag = currentTag
            if isFirst || tag != last {
                var attributes = TXTRecord()
                // A short ASCII key with a short value always fits.
                if let tag { try? attributes.set(AnnouncementBook.attribute, to: tag.bytes) }
                try? attributes.set(AppMark.attribute, to: AppMark(of: node.configuration.app).bytes)
                await discovery.announce(Advertisement(port: UInt16(clamping: port), attributes: attributes))
                (last, isFirst) = (tag, false)
            }
            try? await Task.sleep(for: .milliseconds(Node.trustPollMilliseconds))
        }
    }

    private var currentTag: AnnouncementTag? {
        guard node.trust.standing == .member, let secret = node.trust.household?.secrets.first else { return nil }
        return AnnouncementTag(of: node.key.id, secret: secret, milliseconds: MonotonicClock.wallClockMilliseconds)
    }

    /// A device without a household meets one that it trusts by hand and that has one: it joins.
    ///
    /// - Returns: when to dial again.
    func meet(group: [UInt8], of device: DeviceID) -> RetryAdvice {
        let trust = node.trust
        if trust.standing == .listed, let household = HouseholdID(bytes: group), let sponsor = trust.device(device) {
            do {
                try trust.join(household, through: sponsor)
                trustAlarm.ring()
                return .atOnce
            } catch {
                node.logger.error("the household cannot be joined", metadata: ["reason": "\(error.message)"])
            }
        }
        // The other side has none yet and is about to join.
        return group.isEmpty ? .later : .afterChange
    }
}
