@_exported import KithStore

// What an app meets beside the store when it imports Kith alone. The engine's own names (frames, sessions, cells) stay in their modules.
@_exported import struct KithSync.AppID
@_exported import struct KithSync.DeltaProgress
@_exported import struct KithSync.PairingCode
@_exported import struct KithSync.PairingFailure
@_exported import struct KithTrust.DeviceID
@_exported import enum KithTrust.DeviceIDError
@_exported import struct KithTrust.DeviceKey
@_exported import enum KithTrust.IdentityArchive
@_exported import struct KithTrust.PairingToken
@_exported import enum KithTrust.PairingTokenError
@_exported import struct KithTrust.PeerAddress
@_exported import struct KithTrust.TrustError
@_exported import class KithTrust.TrustStore
@_exported import struct KithTrust.TrustedDevice
