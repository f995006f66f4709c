import KithLedger
import KithStore
import KithSync
import Logging
import Synchronization

/// What this node tells others of the attachments that it has, and what they say of theirs.
///
/// What it tells is in step with the disk each time ``tell()`` is called. What it hears is written down now and then, for many come at once.
final class HoldingBook: Sendable {
    fileprivate struct Told {
        /// What everybody in `listeners` knows.
        var ids: Set<AttachmentID> = []
        var listeners: [ObjectIdentifier: SessionRunner] = [:]
        var newcomers: [SessionRunner] = []
    }

    private let store: SyncedDatabase
    private let logger: Logger
    private let told = Mutex(Told())
    /// By device id.
    private let heard = Mutex<[[UInt8]: HoldingNews]>([:])

    init(_ store: SyncedDatabase, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    // MARK: What is told

    /// A session has opened: its peer is told everything the next time.
    func appeared(_ runner: SessionRunner) {
        told.withLock { $0.newcomers.append(runner) }
    }

    func left(_ runner: SessionRunner) {
        told.withLock { told in
            told.listeners[ObjectIdentifier(runner)] = nil
            told.newcomers.removeAll { $0 === runner }
        }
    }

    /// Looks at the disk and tells what is new.
    func tell() {
        let here = Set(store.attachmentsHere())
        let showsAny = store.showsAttachments || !here.isEmpty
        told.withLock { told in
            let added = here.subtracting(told.ids).sorted()
            let removed = told.ids.subtracting(here).sorted()
            for holdings in AttachmentHoldings.changes(added: added, removed: removed) { told.send(holdings) }
            told.ids = here
            // Who knows of no attachment has nothing to note.
            guard showsAny else { return }
            for runner in told.newcomers {
                for holdings in AttachmentHoldings.all(here.sorted()) { runner.send(.holdings(holdings)) }
                told.listeners[ObjectIdentifier(runner)] = runner
            }
            told.newcomers = []
        }
    }

    /// One attachment has come.
    func tell(_ id: AttachmentID) {
        told.withLock { told in
            if told.ids.insert(id).inserted { told.send(AttachmentHoldings(.also, [id])) }
        }
    }

    // MARK: What is heard

    func hear(_ holdings: AttachmentHoldings, from device: [UInt8]) {
        heard.withLock { heard in
            heard[device, default: HoldingNews()].hear(holdings)
            Self.bound(&heard)
        }
    }

    /// Of how many attachments news waits.
    var newsCount: Int { heard.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    /// Members may say more than can be written down, for instance while the disk is full. Then nothing is known of the one that said most,
    /// until it says it again.
    private static func bound(_ heard: inout [[UInt8]: HoldingNews]) {
        while heard.values.reduce(0, { $0 + $1.count }) > AttachmentLimits.holdingsMax {
            guard let most = heard.max(by: { $0.value.count < $1.value.count })?.key else { return }
            heard[most]?.forget()
        }
    }

    /// Whether something was heard that is not written down yet.
    var hasNews: Bool { heard.withLock { !$0.isEmpty } }

    /// Writes down what was heard; what fails is tried again the next time.
    func note() {
        let news = heard.withLock { heard in
            defer { heard = [:] }
            return heard
        }
        for (device, news) in news {
            do {
                try store.noteHoldings(news, of: device)
            } catch {
                logger.warning("the attachments of a device cannot be noted", metadata: ["reason": "\(error)"])
                heard.withLock { heard in
                    heard[device, default: HoldingNews()].follow(news)
                    Self.bound(&heard)
                }
            }
        }
    }
}

extension HoldingBook.Told {
    fileprivate func send(_ holdings: AttachmentHoldings) {
        for runner in listeners.values { runner.send(.holdings(holdings)) }
    }
}
