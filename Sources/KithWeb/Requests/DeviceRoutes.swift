import HTTPTypes
import Hummingbird
import Kith
import KithNotes
import KithReport

/// Pairing from the page, and a look at what is wrong.
struct DeviceRoutes: Sendable {
    let desk: PairingDesk
    let notes: NotesStore
    let configuration: PageConfiguration
    private let isLooking = Shared(false)

    init(_ desk: PairingDesk, _ notes: NotesStore, _ configuration: PageConfiguration) {
        (self.desk, self.notes, self.configuration) = (desk, notes, configuration)
    }

    private var limits: RequestLimits { configuration.limits }

    func add(to router: Router<BasicRequestContext>) {
        router.post("/api/doctor") { request, _ in
            _ = try await request.decode(Nothing.self, limits)
            guard isLooking.exchange(true) == false else { throw ErrorAnswer(.conflict, "busy", "Another page is looking already.") }
            defer { isLooking.value = false }
            let (notes, configuration) = (notes, configuration)
            var (checkup, conflicts) = try await DiskWork.run {
                (
                    Checkup(
                        file: configuration.notesFile, identity: configuration.identity, trust: .success(try configuration.trust()),
                        keyObstacle: nil),
                    try notes.conflicts()
                )
            }
            checkup.usesDiscovery = configuration.usesDiscovery
            return try Response.json(await checkup.findings(conflicts, isOnPage: true).map(FindingAnswer.init))
        }
        router.get("/api/pair") { _, _ in try Response.json(desk.view) }
        router.post("/api/pair") { request, _ in
            let wish = try await request.decode(Wish.self, limits)
            let address = wish.address.flatMap { $0.isEmpty ? nil : $0 }
            try await DiskWork.run { try desk.open(showsToken: wish.showsToken ?? false, address: address) }
            return try Response.json(desk.view)
        }
        router.post("/api/pair/answer") { request, _ in
            let answer = try await request.decode(Answer.self, limits)
            await desk.answer(isSame: answer.isSame, to: answer.digits)
            return try Response.json(desk.view)
        }
        router.post("/api/pair/close") { request, _ in
            _ = try await request.decode(Nothing.self, limits)
            desk.close()
            return try Response.json(desk.view)
        }
    }
}

private struct FindingAnswer: Encodable {
    let word: String
    let sentence: String
    let remedy: String?
    /// Where the page lets a person do something about it, and what the link there says.
    let path: String?
    let label: String?

    init(_ finding: DiagnosisFinding) {
        (word, sentence, remedy) = (finding.verdict.word, finding.sentence, finding.remedy)
        (path, label) = (finding.place?.rawValue, finding.place?.label)
    }
}

private struct Wish: Decodable {
    let showsToken: Bool?
    let address: String?
}

private struct Answer: Decodable {
    let isSame: Bool
    /// Those that the page showed.
    let digits: String
}
