extension SyncedDatabase {
    /// Brings this store what `other`, in the same process, has and this one lacks: for the tests of an app. Between machines, a node does it.
    public func pull(from other: SyncedDatabase) throws(StoreError) {
        try StoreError.typed {
            _ = try apply(other.delta(since: vector()))
        }
    }
}
