/// What can go wrong with keys, certificates and the list of trusted devices.
public struct TrustError: Error, Hashable, Sendable {
    /// The stable name of the failure, for programs.
    public enum Code: String, Hashable, Sendable {
        /// A file that only its owner may read or write is open to others.
        case exposedFile
        /// A folder in which others could replace the files.
        case exposedFolder
        /// The device key cannot be read; it was left as it is.
        case corruptedKey
        /// There is no device key where one is needed.
        case missingKey
        /// The list of trusted devices cannot be read; it was left as it is.
        case corruptedList
        /// The list was written by a newer version.
        case newerList
        /// The file of the household cannot be read; it was left as it is.
        case corruptedHousehold
        /// This device is not a member of the household any more.
        case notAMember
        /// An imported identity has not heard from a member yet, so it does not know what it has said itself; or a device joins the
        /// household, and has no secret of it.
        case notHeardYet
        /// Two machines have said different things with one key.
        case copiedKey
        /// What was asked for needs a household, and this device is not a member of one.
        case noHousehold
        /// A passphrase that is too short, or too long.
        case weakPassphrase
        /// The passphrase does not open the exported identity, or that was altered.
        case wrongPassphrase
        /// Not an exported identity, or a damaged one.
        case corruptedArchive
        /// The machine has an identity, which is not overwritten.
        case identityExists
        /// Another process held the lock for too long.
        case busy
        /// The operating system refused a file operation; see `systemError`.
        case fileSystem
        /// A device cannot trust itself as another one.
        case ownDevice
        /// No trusted device has this id.
        case unknownDevice
        /// A name that cannot be shown on one line, or is too long.
        case invalidName
        /// Not `host:port`.
        case invalidAddress
        /// More devices, or more addresses of one device, than the limit.
        case limitReached
        /// Not a certificate of a Kith device.
        case malformedCertificate
    }

    public let code: Code
    /// What happened, what it means and what to do, for people.
    public let message: String
    /// The `errno` of the failed call, if the operating system refused it.
    public let systemError: Int32?

    init(_ code: Code, _ message: String, systemError: Int32? = nil) {
        self.code = code
        self.message = message
        self.systemError = systemError
    }
}

extension TrustError {
    init(_ membershipError: MembershipError) {
        switch membershipError {
        case .notAMember: self = .notAMember
        case .tooMany:
            self.init(
                .limitReached,
                """
                This device may say no more in its household. Another member may still be able to add or rename; revoking always works. \
                If none can, leave the household, and pair again.
                """
            )
        case .malformed:
            self.init(
                .invalidName,
                "A device name has at most \(TrustedDevice.nameBytesMax) bytes and fits on one line. Choose a shorter or plainer name.")
        case .forked:
            self.init(
                .copiedKey,
                """
                Something else was signed with the key of this machine: by another one that has it, or by this one before a backup of it was \
                put back. Give this machine a new key; another one with the old key is then out.
                """)
        case .unsigned, .otherHousehold, .missingRecord:
            self.init(.corruptedHousehold, "The record does not fit the household (\(membershipError)). Update Kith on both devices.")
        }
    }

    static let notHeardYet = TrustError(
        .notHeardYet,
        """
        This identity was imported and has not met another member since, so it does not know what it has said itself. Let it \
        meet another member, and try again. If there is no other one any more, leave the household, and pair again.
        """)

    static let notAMember = TrustError(
        .notAMember, "This device is not a member of the household any more, so it cannot change who is. Pair it again, or leave.")
}

extension TrustError: CustomStringConvertible {
    public var description: String { message }
}
