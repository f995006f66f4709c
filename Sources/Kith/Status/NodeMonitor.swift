import Observation

/// The status of a node for a user interface that follows what it reads, such as SwiftUI.
///
///     struct SyncView: View {
///         let monitor: NodeMonitor
///         var body: some View { Text(monitor.status.sentence) }
///     }
///
/// It goes on as long as the object is there, whether the node runs or not.
@MainActor @Observable public final class NodeMonitor {
    /// What goes on now.
    public private(set) var status: NodeStatus
    @ObservationIgnored private var following: Task<Void, Never>?

    public init(_ node: Node) {
        status = node.status
        following = Task { [weak self, statuses = node.statuses] in
            for await status in statuses {
                guard let self else { return }
                if self.status != status { self.status = status }
            }
        }
    }

    /// The status of an app that is opened.
    public convenience init(_ app: SyncedApp) {
        self.init(app.node)
    }

    deinit {
        following?.cancel()
    }
}
