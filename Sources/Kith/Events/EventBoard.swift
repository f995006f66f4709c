import Foundation
import KithTrust
import Synchronization

/// Publishes what a node does: to readers of events, and to the app's metrics and tracing, where it has any.
final class EventBoard: Sendable {
    /// Events that wait for a reader that is slow; the oldest go first.
    static let bufferedMax = 256

    private struct State {
        var operations: UInt64 = 0
        var metrics: NodeMetrics?
    }

    private let state = Mutex(State())
    private let readers = Broadcast<NodeEvent>()

    var events: AsyncStream<NodeEvent> { readers.stream(bufferedMax: Self.bufferedMax) }

    /// Whether events are read or counted, so that it is worth a look what there is to say.
    var isHeard: Bool { readerCount > 0 || NodeMetrics.areCounted }

    /// How many read now.
    var readerCount: Int { readers.readerCount }

    /// Something begins.
    func begin(_ kind: NodeEvent.Kind, with peer: DeviceID? = nil) -> NodeOperation {
        let (number, metrics) = state.withLock { state in
            state.operations += 1
            // Not before something happens: by then the app has chosen where its metrics go.
            let metrics = state.metrics ?? NodeMetrics()
            state.metrics = metrics
            return (state.operations, metrics)
        }
        return NodeOperation(self, kind, number, peer, metrics)
    }

    /// Something has happened that takes no time.
    func note(_ kind: NodeEvent.Kind, with peer: DeviceID? = nil, rows: Int = 0) {
        let operation = begin(kind, with: peer)
        operation.progress(rows: rows, tells: false)
        operation.end()
    }

    fileprivate func publish(_ event: @autoclosure () -> NodeEvent) {
        guard readers.readerCount > 0 else { return }
        readers.add(event())
        readers.tell()
    }
}

/// Something that a node does. It ends once; what is said of it afterwards is passed over.
final class NodeOperation: Sendable {
    private struct State {
        var rows = 0
        var bytes = 0
        var isOver = false
    }

    private let board: EventBoard
    private let kind: NodeEvent.Kind
    private let number: UInt64
    private let peer: DeviceID?
    private let start = ContinuousClock.now
    private let metrics: NodeMetrics
    private let span: NodeSpan
    private let state = Mutex(State())

    fileprivate init(_ board: EventBoard, _ kind: NodeEvent.Kind, _ number: UInt64, _ peer: DeviceID?, _ metrics: NodeMetrics) {
        self.board = board
        self.kind = kind
        self.number = number
        self.peer = peer
        self.metrics = metrics
        span = NodeSpan(kind, peer)
        publish(.began, State())
    }

    /// So much more was done.
    ///
    /// - Parameter tells: whether readers hear of it now.
    func progress(rows: Int = 0, bytes: Int = 0, tells: Bool = true) {
        let state = state.withLock { state -> State? in
            if state.isOver { return nil }
            state.rows += rows
            state.bytes += bytes
            return state
        }
        guard let state else { return }
        metrics.add(kind, rows: rows, bytes: bytes)
        if tells { publish(.progress, state) }
    }

    func end() { finish(.ended) }

    func fail(_ reason: String) { finish(.failed(reason)) }

    private func finish(_ phase: NodeEvent.Phase) {
        let state = state.withLock { state -> State? in
            if state.isOver { return nil }
            state.isOver = true
            return state
        }
        guard let state else { return }
        let elapsed = start.duration(to: .now)
        if case .failed(let reason) = phase {
            metrics.finish(kind, elapsed, isFailure: true)
            span.finish(rows: state.rows, bytes: state.bytes, failure: reason)
        } else {
            metrics.finish(kind, elapsed, isFailure: false)
            span.finish(rows: state.rows, bytes: state.bytes, failure: nil)
        }
        publish(phase, state)
    }

    private func publish(_ phase: NodeEvent.Phase, _ state: State) {
        board.publish(
            NodeEvent(
                kind: kind, phase: phase, operation: number, peer: peer, rows: state.rows, bytes: state.bytes, time: Date(),
                elapsed: start.duration(to: .now)))
    }
}
