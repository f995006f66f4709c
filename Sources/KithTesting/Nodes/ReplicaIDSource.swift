import KithCausality
import Synchronization

/// Gives a machine's stores their ids, the same in every run of a seed.
final class ReplicaIDSource: Sendable {
    private let random: Mutex<SplitMix64>

    init(seed: UInt64, node: Int) {
        random = Mutex(SplitMix64(seed: seed, .identities, node))
    }

    func next() -> ReplicaID {
        random.withLock { ReplicaID.random(using: &$0) }
    }
}
