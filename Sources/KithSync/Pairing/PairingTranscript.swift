/// The two devices, their app and the two nonces of one pairing, and what is computed of them. See docs/pairing.md.
///
/// Each hashed text begins with a label of its own and goes on with fields of fixed length (an app's name ends one), so that no two of them can be
/// taken for each other.
struct PairingTranscript: Sendable {
    let cryptography: any PairingCryptography
    /// The id of the device that accepted the connection.
    let acceptor: [UInt8]
    /// The id of the device that dialled.
    let initiator: [UInt8]
    /// Names the app between these two devices, so that nobody can tell from it that other devices have the same one without trying names.
    let app: [UInt8]

    init(cryptography: any PairingCryptography, acceptor: [UInt8], initiator: [UInt8], app: AppID) {
        self.cryptography = cryptography
        self.acceptor = acceptor
        self.initiator = initiator
        self.app = cryptography.hash(Self.label("app") + initiator + acceptor + app.bytes)
    }

    /// What the initiator says first: it fixes its nonce without showing it.
    func commitment(to initiatorNonce: [UInt8]) -> [UInt8] {
        cryptography.hash(Self.label("commit") + initiatorNonce + initiator + acceptor)
    }

    /// What both screens show.
    func code(acceptorNonce: [UInt8], initiatorNonce: [UInt8]) -> PairingCode {
        PairingCode(cryptography.derive(from: acceptorNonce + initiatorNonce, info: Self.label("sas") + [PairingLimits.version] + devices))
    }

    /// What only a device that knows `token` can say in `role`.
    func proof(of role: PairingRole, token: [UInt8], acceptorNonce: [UInt8], initiatorNonce: [UInt8]) -> [UInt8] {
        let text = Self.label("proof") + [PairingLimits.version, role.rawValue] + devices + acceptorNonce + initiatorNonce
        return cryptography.authenticationCode(for: text, key: token)
    }

    private var devices: [UInt8] {
        [PairingRole.acceptor.rawValue] + acceptor + [PairingRole.initiator.rawValue] + initiator + app
    }

    private static func label(_ purpose: String) -> [UInt8] {
        Array("\(PairingLimits.applicationProtocol) \(purpose)".utf8)
    }

    /// Whether `left` is `right`, in a time that does not tell where they differ.
    static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
