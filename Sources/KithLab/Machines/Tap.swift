#if os(Linux)
import Glibc

/// A network card whose cable ends in this process (Linux, `Documentation/networking/tuntap.rst`).
final class Tap: Sendable {
    private static let setInterface: UInt = 0x4004_54CA
    private static let setCarrier: UInt = 0x4004_54E2
    private static let tapWithoutHeader: UInt16 = 0x0002 | 0x1000
    private static let nameBytesMax = 15

    let descriptor: Int32

    /// A new card in the network namespace of this process.
    init(name: String) throws(LabError) {
        descriptor = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw LabError(
                .unavailable, "/dev/net/tun cannot be opened (\(String(cString: strerror(errno)))), so machines cannot be connected.")
        }
        // struct ifreq: the name in 16 bytes, then the flags.
        var request = [UInt8](repeating: 0, count: 40)
        for (index, byte) in name.utf8.prefix(Self.nameBytesMax).enumerated() { request[index] = byte }
        request[16] = UInt8(truncatingIfNeeded: Self.tapWithoutHeader)
        request[17] = UInt8(truncatingIfNeeded: Self.tapWithoutHeader >> 8)
        guard ioctl(descriptor, Self.setInterface, &request) == 0 else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw LabError(.unavailable, "No network card could be made (\(reason)); the lab needs TAP devices.")
        }
    }

    deinit {
        close(descriptor)
    }

    /// Plugs the cable in or pulls it, as the machine sees it.
    func setCarrier(_ isOn: Bool) {
        var value: Int32 = isOn ? 1 : 0
        _ = ioctl(descriptor, Self.setCarrier, &value)
    }
}
#endif
