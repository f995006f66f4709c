import Foundation

/// A device that this one exchanges everything with.
public struct TrustedDevice: Hashable, Sendable {
    /// Longest name, in UTF-8 bytes.
    public static let nameBytesMax = 64
    /// Most addresses of one device.
    public static let addressesMax = 8

    /// Who it is.
    public let id: DeviceID
    /// What people call it; empty if nobody named it. On this machine only.
    public let name: String
    /// Where to look for it besides discovery, most promising first.
    public let addresses: [PeerAddress]
    /// When trust in it began, whole seconds.
    public let added: Date

    /// - Throws: `.invalidName`, or `.limitReached` for too many addresses.
    public init(id: DeviceID, name: String = "", addresses: [PeerAddress] = [], added: Date) throws(TrustError) {
        guard name.utf8.count <= Self.nameBytesMax, !name.unicodeScalars.contains(where: Self.isUnprintable) else {
            throw TrustError(
                .invalidName,
                "A device name has at most \(Self.nameBytesMax) bytes and fits on one line. Choose a shorter or plainer name.")
        }
        guard addresses.count <= Self.addressesMax else {
            throw TrustError(.limitReached, "A device has at most \(Self.addressesMax) addresses. Forget those that it was given before.")
        }
        self.id = id
        self.name = name
        self.addresses = addresses
        self.added = Date(timeIntervalSince1970: added.timeIntervalSince1970.rounded(.down))
    }

    /// Control characters, line ends and the marks that change the direction of text: with them a name could
    /// pass for something else in a terminal.
    private static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\u{200C}" || scalar == "\u{200D}" { return false }  // joiners, which words and emoji need
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
