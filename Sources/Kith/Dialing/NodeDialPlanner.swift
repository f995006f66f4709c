import KithDiscovery
import KithSync
import KithTrust

/// Whom a node dials.
typealias NodeDialPlanner = DialPlanner<DeviceID, InstanceName, PeerAddress>
