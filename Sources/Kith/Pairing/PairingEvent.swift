import KithSync
import KithTrust

/// What happens while a window is open, for the screen.
public enum PairingEvent: Hashable, Sendable {
    /// Others may try from now on, at this port if this device waits for them.
    case open(port: Int?)
    /// Nobody can be found by mDNS, for this reason; addresses work all the same.
    case noDiscovery(String)
    /// Nobody answers at the address that was given.
    case notReachable(String)
    /// Both screens show these digits now; to be answered with ``Pairing/answer(isSame:to:)``. Later digits replace earlier ones.
    case compare(PairingCode)
    /// An attempt came to nothing. After `failuresMax` of those that count the window closes.
    case failed(PairingFailure, failures: Int, failuresMax: Int)
}

/// How a window ended.
public enum PairingOutcome: Hashable, Sendable {
    /// Both devices trust each other.
    case paired(TrustedDevice)
    /// This device trusts the other one, which did not say that it does likewise.
    case trustedAlone(TrustedDevice, PairingFailure)
    /// Nobody was paired, and going on would be of no use.
    case failed(PairingFailure)
    /// As many attempts failed as may.
    case tooManyFailures(Int)
    /// The time is over.
    case windowOver(failures: Int)
    /// The task was cancelled.
    case cancelled
}
