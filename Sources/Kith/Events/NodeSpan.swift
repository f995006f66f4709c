import KithTrust
import Tracing

/// A span of the tracer that the app has bootstrapped, named `kith.receive` and so on; without one it goes nowhere.
struct NodeSpan: Sendable {
    private let span: any Span

    init(_ kind: NodeEvent.Kind, _ peer: DeviceID?) {
        span = InstrumentationSystem.tracer.startAnySpan("kith.\(kind.rawValue)", ofKind: kind.spanKind)
        if let peer, span.isRecording { span.attributes["kith.peer"] = peer.shortDescription }
    }

    func finish(rows: Int, bytes: Int, failure: String?) {
        if span.isRecording {
            span.attributes["kith.rows"] = rows
            span.attributes["kith.bytes"] = bytes
            if let failure { span.setStatus(SpanStatus(code: .error, message: failure)) }
        }
        span.end()
    }
}

extension NodeEvent.Kind {
    fileprivate var spanKind: SpanKind {
        switch self {
        case .receive: .consumer
        case .send: .producer
        case .connect: .client
        default: .internal
        }
    }
}
