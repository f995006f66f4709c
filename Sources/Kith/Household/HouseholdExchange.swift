import KithSync
import KithTransport
import KithTrust
import Logging

/// Keeps what the members know of their household the same on all connected devices.
///
/// Each side tells the digest of what it has when a session opens and after every change; what is missing follows by itself.
struct HouseholdExchange: Sendable {
    let trust: TrustStore
    let hub: SessionHub
    let logger: Logger
    /// Told when something is different after a peer's message.
    let onChange: @Sendable () -> Void

    /// A session with a peer has opened.
    func greet(_ runner: SessionRunner) {
        if let digest = trust.householdDigest { runner.post(.household(digest.encoded)) }
    }

    /// Something was changed on this device.
    func tellEverybody(except runner: SessionRunner? = nil) {
        for message in trust.householdChange {
            hub.handle(.tell(.household(message.encoded), runner.map { .allBut($0.id) } ?? .all))
        }
    }

    /// Writes down what the certificate of a member says, and its key, for which a handshake has no time.
    func hear(_ certificate: DeviceCertificate) {
        let news = trust.news(in: certificate)
        do {
            if !news.isEmpty, try trust.hear(news) { noteChange() }
            try trust.note(publicKey: certificate.publicKeyBytes)
        } catch {
            logger.error("the household cannot be stored", metadata: ["reason": "\(error.message)"])
        }
    }

    /// The peer said this.
    /// - Returns: what to answer; `nil` if the peer says too much that is of no use, which `budget` counts.
    func hear(_ bytes: [UInt8], from runner: SessionRunner, _ budget: inout HouseholdBudget) -> [[UInt8]]? {
        // A later version may say more; what is not understood is passed over.
        guard let message = HouseholdMessage(bytes) else { return [] }
        var (answers, hasChanged) = ([[UInt8]](), false)
        do {
            let heard = try trust.answer(message)
            (answers, hasChanged) = (heard.answers.map(\.encoded), heard.hasChanged)
            if hasChanged { noteChange(except: runner) }
        } catch {
            logger.error("the household cannot be stored", metadata: ["reason": "\(error.message)"])
        }
        var areRecords = false
        if case .records = message { areRecords = true }
        let answered = answers.reduce(0) { $0 + $1.count }
        return budget.spend(heard: bytes.count, areRecords: areRecords, answered: answered, hasLearned: hasChanged) ? answers : nil
    }

    /// Listens to a device that leaves, and answers once it is written down that it did. It hears nothing else.
    func hearFarewell(over connection: Connection) async {
        let deadline = Task {
            try await Task.sleep(for: .milliseconds(Farewell.answerMilliseconds))
            connection.abort(reason: Farewell.over)
        }
        defer { deadline.cancel() }
        do {
            for try await frame in connection.frames {
                guard case .household(let bytes)? = try FrameCodec.decode(frame), let message = HouseholdMessage(bytes) else { break }
                let (answer, hasChanged) = try trust.hear(message, fromLeaving: connection.certificate)
                if let answer { try connection.post(FrameCodec.encode(.household(answer.encoded))) }
                if hasChanged { noteChange() }
                if answer != nil { break }
            }
        } catch {
            logger.debug("a farewell was not heard", metadata: ["reason": "\(error)"])
        }
        await connection.close(reason: Farewell.over)
    }

    /// Who was revoked gets no byte from now on; all others hear of what is new.
    private func noteChange(except runner: SessionRunner? = nil) {
        hub.cutUntrusted(by: trust)
        tellEverybody(except: runner)
        onChange()
    }
}
