import KithCausality
import KithSync

extension RowState {
    /// Begins a new life of the row that shows what it showed. All of it is written anew, for others may have collected
    /// the old one, and would take only what is new. Texts, whose history is the store's, are left to it.
    package mutating func revive(_ stamp: Stamp) {
        for index in cells.indices {
            switch cells[index].cell {
            case .register(var register):
                register.resolve(keeping: register.shown?.value ?? .null, stamp: stamp)
                cells[index].cell = .register(register)
            case .set(var set):
                set.restart(with: set.members, dot: stamp.dot)
                cells[index].cell = .set(set)
            case .counter(var counter):
                counter.restart(with: counter.value, dot: stamp.dot)
                cells[index].cell = .counter(counter)
            case .text:
                break
            }
        }
        tombstones = []
    }
}
