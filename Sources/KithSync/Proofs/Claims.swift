import KithCausality

/// The highest commit of each replica that a frame names, anywhere in it.
package struct Claims: Hashable, Sendable {
    private(set) var dots: [Dot]
    /// Whether the frame also names all that its sender has said that it knew at the beginning of the session.
    private(set) var nameSender = false

    package init(_ dots: [Dot] = []) {
        self.dots = dots
    }

    /// - Parameter highest: by the number of the replica in its frame's table; 0 for one of which no commit is named.
    init(_ replicas: ReplicaTable, highest: [UInt64], nameSender: Bool = false) {
        self.nameSender = nameSender
        dots = zip(replicas.ids, highest).compactMap { replica, sequence in
            sequence > 0 && replica != .nobody ? Dot(replica: replica, sequence: sequence) : nil
        }
    }
}
