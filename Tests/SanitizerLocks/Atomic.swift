/// Stands in for `Synchronization.Atomic` beside ``Mutex``, whose module takes the place of the other as a whole.
public struct Atomic<Value: Sendable>: ~Copyable, Sendable {
    private let value: Mutex<Value>

    public init(_ initialValue: Value) {
        value = Mutex(initialValue)
    }

    public borrowing func load(ordering: Ordering) -> Value { value.withLock { $0 } }

    public borrowing func store(_ desired: Value, ordering: Ordering) { value.withLock { $0 = desired } }

    public borrowing func exchange(_ desired: Value, ordering: Ordering) -> Value {
        value.withLock { value in
            defer { value = desired }
            return value
        }
    }
}

extension Atomic where Value: FixedWidthInteger {
    @discardableResult
    public borrowing func add(_ operand: Value, ordering: Ordering) -> (oldValue: Value, newValue: Value) {
        value.withLock { value in
            defer { value += operand }
            return (value, value + operand)
        }
    }

    @discardableResult
    public borrowing func subtract(_ operand: Value, ordering: Ordering) -> (oldValue: Value, newValue: Value) {
        value.withLock { value in
            defer { value -= operand }
            return (value, value - operand)
        }
    }

    @discardableResult
    public borrowing func wrappingAdd(_ operand: Value, ordering: Ordering) -> (oldValue: Value, newValue: Value) {
        value.withLock { value in
            defer { value &+= operand }
            return (value, value &+ operand)
        }
    }
}

/// The names of the orderings; a lock gives the strongest.
public struct Ordering: Sendable {
    public static var relaxed: Ordering { Ordering() }
    public static var acquiring: Ordering { Ordering() }
    public static var releasing: Ordering { Ordering() }
    public static var acquiringAndReleasing: Ordering { Ordering() }
}
