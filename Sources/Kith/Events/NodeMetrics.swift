import Metrics

/// What a node counts and times, for the metrics system that the app has bootstrapped; without one it goes nowhere.
///
/// | label | what |
/// |---|---|
/// | `kith_operations_total` | operations that ended, by `kind` and `outcome`: `ok` or `failed` |
/// | `kith_operation_duration` | how long they took, by `kind` |
/// | `kith_rows_total`, `kith_bytes_total` | rows and bytes, by `kind`: `receive` or `send`; rows of `conflict` and `garbage`, too |
struct NodeMetrics: Sendable {
    private struct Instruments: Sendable {
        let ended: Metrics.Counter
        let failed: Metrics.Counter
        let duration: Metrics.Timer
        let rows: Metrics.Counter
        let bytes: Metrics.Counter

        init(_ kind: NodeEvent.Kind) {
            let dimension = ("kind", kind.rawValue)
            ended = Metrics.Counter(label: "kith_operations_total", dimensions: [dimension, ("outcome", "ok")])
            failed = Metrics.Counter(label: "kith_operations_total", dimensions: [dimension, ("outcome", "failed")])
            duration = Metrics.Timer(label: "kith_operation_duration", dimensions: [dimension])
            rows = Metrics.Counter(label: "kith_rows_total", dimensions: [dimension])
            bytes = Metrics.Counter(label: "kith_bytes_total", dimensions: [dimension])
        }
    }

    /// Whether the app has bootstrapped a metrics system.
    static var areCounted: Bool { !(MetricsSystem.factory is NOOPMetricsHandler) }

    private let instruments: [NodeEvent.Kind: Instruments]

    init() {
        instruments = Dictionary(uniqueKeysWithValues: NodeEvent.Kind.allCases.map { ($0, Instruments($0)) })
    }

    func add(_ kind: NodeEvent.Kind, rows: Int, bytes: Int) {
        if rows > 0 { instruments[kind]?.rows.increment(by: rows) }
        if bytes > 0 { instruments[kind]?.bytes.increment(by: bytes) }
    }

    func finish(_ kind: NodeEvent.Kind, _ elapsed: Duration, isFailure: Bool) {
        guard let instruments = instruments[kind] else { return }
        (isFailure ? instruments.failed : instruments.ended).increment()
        instruments.duration.record(duration: elapsed)
    }
}
