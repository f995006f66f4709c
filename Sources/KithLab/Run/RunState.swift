#if os(Linux)
import Foundation
import KithCausality
import Synchronization

/// What several threads of a run tell each other.
final class RunState: Sendable {
    struct Data {
        var writes: [WriteRecord] = []
        var noteIDs: [String: String] = [:]
        var statusLines: [(node: Int, atMilliseconds: Int64, line: String)] = []
        /// Writes that are not done yet.
        var pendingWrites = 0
        var isInterrupted = false
        /// The files that writes attach, by name.
        var files: [String: LabFile] = [:]
        /// The nodes whose notes were taken away and are not all back.
        var lost: Set<Int> = []
        /// The writes of such nodes from before, which may be nowhere else.
        var perhapsGone: Set<Dot> = []
    }

    private let data = Mutex(Data())
    private let start = DispatchTime.now().uptimeNanoseconds

    /// From the start of the run.
    var nowMilliseconds: Int64 { Int64((DispatchTime.now().uptimeNanoseconds - start) / 1_000_000) }

    func with<Result: Sendable>(_ body: (inout sending Data) -> sending Result) -> Result { data.withLock(body) }

    var isInterrupted: Bool { data.withLock { $0.isInterrupted } }
    var pendingWrites: Int { data.withLock { $0.pendingWrites } }
}
#endif
