import KithCausality

/// The highest commit of each replica that a frame names, anywhere in it.
package struct Claims: Hashable, Sendable {
    private(set) var dots: [Dot]

    package init(_ dots: [Dot] = []) {
        self.dots = dots
    }

    /// - Parameter highest: by the number of the replica in its frame's table; 0 for one of which no commit is named.
    init(_ replicas: ReplicaTable, highest: [UInt64]) {
        dots = zip(replicas.ids, highest).compactMap { replica, sequence in
            sequence > 0 && replica != .nobody ? Dot(replica: replica, sequence: sequence) : nil
        }
    }
}
