import KithSync
import KithTrust
import Logging

/// Keeps what the members know of their household the same on all connected devices.
///
/// Each side tells the digest of what it has when a session opens and after every change; what is missing follows by itself.
struct HouseholdExchange: Sendable {
    let trust: TrustStore
    let hub: SessionHub
    let logger: Logger
    /// Bytes that a session answers before it has learned something: several times all that there can be to say.
    static let answerBytesMax = 8 << 20
    /// Told when something is different after a peer's message.
    let onChange: @Sendable () -> Void

    /// A session with a peer has opened.
    func greet(_ runner: SessionRunner) {
        if let digest = trust.householdDigest { runner.post(.household(digest.encoded)) }
    }

    /// Something was changed on this device.
    func tellEverybody(except runner: SessionRunner? = nil) {
        if let digest = trust.householdDigest { hub.post(.household(digest.encoded), except: runner) }
    }

    /// The certificate of a member said this.
    func hear(_ news: HouseholdMessage) {
        do {
            if try trust.hear(news) { noteChange() }
        } catch {
            logger.error("the household cannot be stored", metadata: ["reason": "\(error.message)"])
        }
    }

    /// The peer said this.
    /// - Returns: what to answer, and whether anything is different now.
    func hear(_ bytes: [UInt8], from runner: SessionRunner) -> (answers: [[UInt8]], hasChanged: Bool) {
        // A later version may say more; what is not understood is passed over.
        guard let message = HouseholdMessage(bytes) else { return ([], false) }
        do {
            let (answers, hasChanged) = try trust.answer(message)
            if hasChanged { noteChange(except: runner) }
            return (answers.map(\.encoded), hasChanged)
        } catch {
            logger.error("the household cannot be stored", metadata: ["reason": "\(error.message)"])
            return ([], false)
        }
    }

    /// Who was revoked gets no byte from now on; all others hear of what is new.
    private func noteChange(except runner: SessionRunner? = nil) {
        hub.cut(unless: trust.isTrusted)
        tellEverybody(except: runner)
        onChange()
    }
}
