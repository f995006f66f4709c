import HTTPTypes
import Hummingbird

/// Pairing from the page.
struct DeviceRoutes: Sendable {
    let desk: PairingDesk
    let limits: RequestLimits

    func add(to router: Router<BasicRequestContext>) {
        router.get("/api/pair") { _, _ in try Response.json(desk.view) }
        router.post("/api/pair") { request, _ in
            let wish = try await request.decode(Wish.self, limits)
            let address = wish.address.flatMap { $0.isEmpty ? nil : $0 }
            try await DiskWork.run { try desk.open(showsToken: wish.showsToken ?? false, address: address) }
            return try Response.json(desk.view)
        }
        router.post("/api/pair/answer") { request, _ in
            await desk.answer(isSame: try await request.decode(Answer.self, limits).isSame)
            return try Response.json(desk.view)
        }
        router.post("/api/pair/close") { request, _ in
            _ = try await request.decode(Nothing.self, limits)
            desk.close()
            return try Response.json(desk.view)
        }
    }
}

private struct Wish: Decodable {
    let showsToken: Bool?
    let address: String?
}

private struct Answer: Decodable {
    let isSame: Bool
}
