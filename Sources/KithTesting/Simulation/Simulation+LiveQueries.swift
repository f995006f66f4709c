import GRDB

/// What apps that observe their tables show.
extension Simulation {
    /// Every live query of the node shows what a new one does, tables that triggers fill hold what they should, and what the app states
    /// holds. Asked after everything that may change the tables, so that no change that nobody was told of is covered up by a later one.
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
