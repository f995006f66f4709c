import KithTrust
import Testing

@testable import Kith

@Suite("One member's many devices keep the others out")
struct SessionPlacesTests {
    private let devices: [DeviceID]

    init() throws {
        devices = try (0..<70).map(Self.device)
    }

    private static func device(_ number: Int) throws -> DeviceID {
        try #require(DeviceID(bytes: [UInt8](repeating: UInt8(number), count: DeviceID.byteCount)))
    }

    /// The devices in the order in which they were added here.
    private var places: SessionPlaces {
        SessionPlaces(added: Dictionary(uniqueKeysWithValues: devices.enumerated().map { ($1, Int64($0)) }))
    }

    @Test func `there is a place for each of 64 sessions, and none for one more device that is newer`() {
        #expect(places.verdict(on: devices[69], besides: devices[..<63]) == .hasPlace)
        #expect(places.verdict(on: devices[69], besides: devices[..<64]) == .none)
    }

    @Test func `a device known for longer takes the place of the newest`() {
        #expect(places.verdict(on: devices[0], besides: devices[1..<65].reversed()) == .takesPlace(of: devices[64]))
        #expect(places.verdict(on: devices[30], besides: Array(devices[..<30] + devices[31..<65])) == .takesPlace(of: devices[64]))
    }

    @Test func `a device that nothing is known of comes last, and of two such one keeps its place`() throws {
        let (stranger, other) = (try Self.device(100), try Self.device(101))
        #expect(places.verdict(on: stranger, besides: devices[..<64]) == .none)
        let crowd = Array(devices[..<63]) + [stranger]
        #expect(places.verdict(on: devices[64], besides: crowd) == .takesPlace(of: stranger))
        let verdicts = [
            places.verdict(on: other, besides: crowd), places.verdict(on: stranger, besides: Array(devices[..<63]) + [other]),
        ]
        #expect(verdicts.count { $0 == .none } == 1)
    }
}
