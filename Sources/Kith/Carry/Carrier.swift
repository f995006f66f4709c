import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import KithTrust

/// Takes changes from one machine of the household to another by files, where no network joins them: on a stick, say.
///
/// What a file holds is what one side of a session would send, sealed for the members and signed by this device. Files may be read in any
/// order, late, several times and by any member; what a file goes on from and is not here makes it wait, and nothing of it is taken in.
/// A node may run on the same store. See docs/carry.md.
package struct Carrier: Sendable {
    let store: SyncedDatabase
    let key: DeviceKey
    let trust: TrustStore
    let app: AppID
    let software: String

    package init(store: SyncedDatabase, key: DeviceKey, trust: TrustStore, app: AppID, software: String) {
        self.store = store
        self.key = key
        self.trust = trust
        self.app = app
        self.software = software
    }

    /// The ending of the names of carried files.
    package static let fileEnding = ".kithcarry"

    /// Lets the store speak for this device and know the members.
    func prepare() throws -> any ProofBook {
        _ = try trust.reloadIfChanged()
        try introduceMembers()
        return try store.bind(to: NodeAuthority(key, trust))
    }

    func introduceMembers() throws {
        try store.setMembers(trust.devices.map(\.id.bytes))
    }

    /// A session as a file has it.
    func configuration(_ proofs: any ProofBook, peer: DeviceID? = nil) -> PeerSession.Configuration {
        var configuration = PeerSession.Configuration(app: app, group: trust.household?.id.bytes ?? [], software: software)
        configuration.capabilities = [.household]
        if store.keepsAttachments { configuration.capabilities.insert(.attachments) }
        configuration.proofs = proofs
        configuration.peerDevice = peer?.bytes
        return configuration
    }

    /// A folder of this machine's disk for what must not stay.
    var scratch: URL {
        store.keepsAttachments ? URL(filePath: store.database.path).deletingLastPathComponent() : FileManager.default.temporaryDirectory
    }

    func name(of device: DeviceID) -> String {
        if device == key.id { return "this machine" }
        return trust.deviceNames[device]
    }
}
