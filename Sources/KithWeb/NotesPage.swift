import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Kith
import KithNotes
import Logging
import NIOCore
import Synchronization

/// The notes in a browser: serves a page on this machine, to the browsers of the person who runs it.
public struct NotesPage: Sendable {
    private let notes: NotesStore
    private let configuration: PageConfiguration

    public init(_ notes: NotesStore, _ configuration: PageConfiguration) {
        self.notes = notes
        self.configuration = configuration
    }

    /// Serves the page until the task is cancelled.
    ///
    /// - Parameter onReady: called once, when browsers can be let in.
    /// - Throws: ``PageError`` if another process serves it, or the port is taken.
    public func run(onReady: @escaping @Sendable (RunningPage) async -> Void) async throws {
        let turn = try PageTurn(in: configuration.folder)
        guard turn.isOurs else { throw PageError.isServedElsewhere }
        defer { withExtendedLifetime(turn) { RunningPage.remove(in: configuration.folder) } }
        FileRoutes.removeLeftovers(in: configuration.folder)
        do {
            try await serve(port: configuration.port ?? configuration.standardPort, onReady)
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            guard configuration.port == nil else { throw PageError.portIsTaken(configuration.port ?? 0) }
            try await serve(port: 0, onReady)
        }
    }

    private func serve(port: Int, _ onReady: @escaping @Sendable (RunningPage) async -> Void) async throws {
        let feed = ChangeFeed(notes, configuration)
        let builder = try PageBuilder(notes, configuration)
        let (responder, entry) = (LateResponder(), Entry())
        let limits = configuration.limits
        let places = AddressPlaces(limit: limits.connectionsOfAddressMax)
        var logger = Logger(label: "kith.page")
        logger.logLevel = .critical
        let channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [AddressPlace(places), ConnectionEnd(limits)], idleTimeout: .seconds(limits.idleSeconds),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerBytesMax, maxHeaderListSize: limits.headerBytesMax, maxHeaderFieldCount: 100))
        let place = try PagePlace(configuration)
        let server = try place.certificate.map { try HTTPServerBuilder.tls(.http1(configuration: channel), tlsConfiguration: $0.tls) }
        let application = Application(
            responder: responder, server: server ?? .http1(configuration: channel),
            configuration: ApplicationConfiguration(
                address: .hostname(place.listens, port: port), backlog: 1_024,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connectionsMax, logger: logger)),
            onServerRunning: { channel in
                // Before all that takes a connection in.
                try? await channel.pipeline.addHandler(entry, position: .first).get()
                guard let port = channel.localAddress?.port else { return }
                // Without a place for its secrets it lets nobody in, and says so by answering nothing.
                guard let (router, page) = try? makeRouter(port, place, builder, feed) else { return }
                responder.begin(router.buildResponder())
                await onReady(page())
            }, logger: logger)
        // A task of its own, which is cancelled only when no connection is on its way into it.
        let work = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await application.run() }
                group.addTask { await feed.follow() }
                defer { group.cancelAll() }
                try await group.next()
                await entry.shut()
            }
        }
        try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            Task {
                await entry.shut()
                work.cancel()
            }
        }
    }

    private func makeRouter(
        _ port: Int, _ place: PagePlace, _ builder: PageBuilder, _ feed: ChangeFeed
    ) throws -> (Router<BasicRequestContext>, @Sendable () -> RunningPage) {
        let isSecure = place.certificate != nil
        let address = "\(isSecure ? "https" : "http")://\(place.host):\(port)"
        let names = PageNames(place.names, port: port, isSecure: isSecure)
        let fingerprint = place.certificate?.fingerprint
        let folder = configuration.folder
        let current = Shared(RunningPage(address: address, fingerprint: fingerprint, token: ""))
        let doorkeeper = try Doorkeeper(folder: folder) { token in
            let page = RunningPage(address: address, fingerprint: fingerprint, token: token)
            try page.write(in: folder)
            current.value = page
        }
        let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(
            middleware: Gate(doorkeeper: doorkeeper, names: names) { sentence in
                try builder.page(.notes, .updated, main: builder.empty(heading: sentence))
            })
        PageRoutes(notes: notes, builder: builder, feed: feed, configuration: configuration).add(to: router)
        ChangeRoutes(notes: notes, limits: configuration.limits).add(to: router)
        SheetRoutes(notes: notes, limits: configuration.limits).add(to: router)
        FileRoutes(notes: notes, folder: configuration.folder, limits: configuration.limits).add(to: router)
        let desk = PairingDesk(configuration) { feed.tell(pairing: $0) }
        DeviceRoutes(desk, notes, configuration).add(to: router)
        return (router, { current.value })
    }
}

/// Why the page cannot be served.
public enum PageError: Error, Hashable, Sendable {
    /// Another process of this person serves it: see ``RunningPage/current(in:)``.
    case isServedElsewhere
    /// Another program listens on the port that was asked for.
    case portIsTaken(Int)
    /// This machine has no address in a network.
    case noNetwork
}

/// Answers once it is known under which names the page is served, which the port is a part of.
private final class LateResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    private let responder = Shared<RouterResponder<BasicRequestContext>?>(nil)

    func begin(_ responder: RouterResponder<BasicRequestContext>) { self.responder.value = responder }

    func respond(to request: Request, context: Context) async throws -> Response {
        guard let responder = responder.value else { return .plain(.serviceUnavailable, "Not yet.") }
        return try await responder.respond(to: request, context: context)
    }
}

/// A value that several threads read and write.
final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }

    var value: Value {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }

    /// Gives what it was.
    func exchange(_ new: Value) -> Value {
        mutex.withLock { value in
            defer { value = new }
            return value
        }
    }
}
