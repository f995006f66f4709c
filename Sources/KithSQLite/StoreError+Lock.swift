import KithLock

extension StoreError {
    /// Runs `body`, which locks a file of a store.
    package static func locking<Value>(_ body: () throws(FileLock.Failure) -> Value) throws(StoreError) -> Value {
        do {
            return try body()
        } catch {
            throw StoreError(
                .readOnly,
                "\(error.path) cannot be locked: \(error.reason). A store needs a folder that can be written, on a file system of this machine."
            )
        }
    }
}
