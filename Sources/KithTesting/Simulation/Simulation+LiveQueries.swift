import GRDB

/// What apps that observe their tables show.
extension Simulation {
    /// Every live query of the node shows what a new one does, tables that triggers fill hold what they should, and what the app states
    /// holds. The simulation asks after each step that may change the tables: else a later change could cover up one that no query heard of.
    func checkLiveQueries(_ node: SimulatedNode) throws {
        guard node.isRunning else { return }
        let stale = try node.database.writeWithoutTransaction { db in
            try node.liveQueries.indices.filter { try !node.liveQueries[$0].isFresh(db) }
        }
        statistics.liveQueriesChecked += node.liveQueries.count
        guard let first = stale.first else {
            try checkFilledTables(node)
            try checkStated(node)
            return try checkHistory(node)
        }
        throw Violation(
            .wrongObservation,
            "Who observes \(node.liveQueries[first].table) on \(node.name) goes on seeing what is there no more: nobody was told of the change."
        )
    }
}
