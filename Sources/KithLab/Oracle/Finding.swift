/// A promise that was broken.
package struct Finding: Codable, Equatable, Sendable {
    package enum Rule: String, Codable, Sendable {
        /// A value that was acknowledged is neither shown nor kept, and nobody who could see it has overwritten it.
        case writeLost
        /// What was overwritten or deleted by someone who saw it is there again.
        case cameBack
        /// A node shows what nobody wrote, or a note that nobody added.
        case neverWritten
        /// Nodes that can reach each other did not come to know the same in time.
        case noConvergence
        /// Nodes that know the same show something different.
        case nodesDiffer
        /// The records of a store do not agree with each other.
        case unsoundStore
        /// A node stopped by itself.
        case nodeFailed
        /// A node said that something is safe on another one, which lacked it.
        case falselySafe
        /// A command worked as if there had never been notes, where the notes were gone.
        case lossUnnoticed
    }

    /// One thing that happened to the value.
    package struct Station: Codable, Equatable, Sendable {
        package var atMilliseconds: Int64
        package var node: Int
        package var text: String
    }

    package var rule: Rule
    package var sentence: String
    /// The way of the value, in order of time.
    package var path: [Station] = []
    /// The write it is about, by its index.
    package var write: Int?
}
