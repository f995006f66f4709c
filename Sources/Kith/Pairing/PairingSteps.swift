import Foundation

/// What happens while two devices are paired, for the screen of an app; see ``SyncedApp/pair(_:at:change:)``.
public enum PairingStep: Sendable {
    /// The other device may be paired from now on; with the token that it is to be told, if there is one, and the port where this one
    /// waits.
    case waiting(port: Int?, token: PairingToken?)
    /// The other device cannot be found by itself, or not where it was said to be, for this reason. The window stays open.
    case notFound(String)
    /// Both screens show these digits now; a person says whether they are the same. A later question replaces an earlier one.
    case compare(Question)
    /// An attempt came to nothing. The window stays open.
    case retry(PairingFailure)
    /// Both devices trust each other. The last step.
    case paired(TrustedDevice)
    /// Nothing came of it. The last step.
    case failed(End)

    /// Digits that a person compares with those on the other screen.
    public struct Question: Hashable, Sendable {
        /// The digits.
        public let code: PairingCode
        private let pairing: Pairing

        init(_ code: PairingCode, _ pairing: Pairing) {
            self.code = code
            self.pairing = pairing
        }

        /// The digits as people read them: `048 213`.
        public var digits: String { code.description }

        /// A person has compared them. Without effect if other digits are shown by now.
        public func answer(isSame: Bool) async {
            await pairing.answer(isSame: isSame, to: code)
        }

        public static func == (left: Question, right: Question) -> Bool { left.code == right.code && left.pairing === right.pairing }

        public func hash(into hasher: inout Hasher) { hasher.combine(code) }
    }

    /// Why no device was paired.
    public enum End: Hashable, Sendable {
        /// The pairing could not begin: a port is taken, or the key cannot be used.
        case cannotBegin(NodeError)
        /// The other device, or a person, refused, or going on would be of no use.
        case refused(PairingFailure)
        /// This device trusts the other one, which did not say that it does likewise: pair them again.
        case halfPaired(TrustedDevice, PairingFailure)
        /// As many attempts failed as may.
        case tooManyFailures(Int)
        /// The time is over.
        case timeOver
        /// The app stopped it.
        case cancelled

        /// The same for people.
        public var sentence: String {
            switch self {
            case .cannotBegin(let error): error.message
            case .refused(let failure): failure.description
            case .halfPaired(_, let failure): "Only this device trusts the other one: \(failure) Pair them again."
            case .tooManyFailures(let count): "\(count) attempts failed, so no more are allowed. Begin again on both devices."
            case .timeOver: "No other device came in time. Begin on both devices within two minutes."
            case .cancelled: "The pairing was stopped."
            }
        }
    }
}

extension SyncedApp {
    /// Pairs this device with another one: both open a window, people compare six digits, and both trust each other from then on.
    ///
    ///     for await step in app.pair() {
    ///         switch step {
    ///         case .waiting: show("Do the same on the other device.")
    ///         case .compare(let question): await question.answer(isSame: ask("Does it show \(question.digits), too?"))
    ///         case .paired(let device): show("Paired with \(device.name).")
    ///         case .failed(let end): show(end.sentence)
    ///         case .notFound, .retry: break
    ///         }
    ///     }
    ///
    /// It goes on while the steps are read, and is stopped by ending the loop or cancelling its task. The app may be started or not; a
    /// running one meets the new device by itself.
    ///
    /// - Parameters:
    ///   - method: digits, or a token that one device shows and the other one is told.
    ///   - address: where the other device waits, if it is not to be found by mDNS.
    ///   - change: changes what the app gives the window otherwise, such as its port or how long it is open.
    public func pair(
        _ method: PairingConfiguration.Method = .numbers, at address: PeerAddress? = nil,
        change: @escaping @Sendable (inout PairingConfiguration) -> Void = { _ in }
    ) -> AsyncStream<PairingStep> {
        let (steps, happened) = AsyncStream.makeStream(of: PairingStep.self)
        let task = Task { [node, trust, id, deviceName] in
            defer { happened.finish() }
            var configuration = PairingConfiguration(method, app: id, name: deviceName, address: address)
            configuration.usesDiscovery = node.configuration.usesDiscovery
            do throws(NodeError) {
                configuration.nodePort = try await node.port()
                change(&configuration)
                let pairing = try Pairing(key: node.key, trust: trust, configuration: configuration, logger: node.logger)
                happened.yield(try await Self.run(pairing, configuration.method) { happened.yield($0) })
            } catch {
                happened.yield(.failed(.cannotBegin(error)))
            }
        }
        happened.onTermination = { _ in task.cancel() }
        return steps
    }

    private static func run(
        _ pairing: Pairing, _ method: PairingConfiguration.Method, tell: @escaping @Sendable (PairingStep) -> Void
    ) async throws(NodeError) -> PairingStep {
        let telling = Task {
            for await event in pairing.events {
                switch event {
                case .open(let port): tell(.waiting(port: port, token: method.shownToken))
                case .noDiscovery(let reason), .notReachable(let reason): tell(.notFound(reason))
                case .compare(let code): tell(.compare(PairingStep.Question(code, pairing)))
                case .failed(let failure, _, _): tell(.retry(failure))
                }
            }
        }
        let outcome = try await pairing.run()
        // What happened before comes before the end.
        await telling.value
        return switch outcome {
        case .paired(let device): .paired(device)
        case .trustedAlone(let device, let failure): .failed(.halfPaired(device, failure))
        case .failed(let failure): .failed(.refused(failure))
        case .tooManyFailures(let count): .failed(.tooManyFailures(count))
        case .windowOver: .failed(.timeOver)
        case .cancelled: .failed(.cancelled)
        }
    }
}

extension PairingConfiguration.Method {
    fileprivate var shownToken: PairingToken? { if case .showToken(let token) = self { token } else { nil } }
}
