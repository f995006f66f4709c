import KithSync

/// The slices that one side of a connection has sent and that the other has not answered, counted from outside.
struct SliceWindow {
    /// Their sizes, oldest first.
    private var sizes: [Int] = []
    private var answered: UInt64 = 0

    var slices: Int { sizes.count }
    var bytes: Int { sizes.reduce(0, +) }

    /// Whether it is no larger than a window may be; a single slice may be of any size that a frame has.
    var isBounded: Bool {
        slices <= WireLimits.slicesInFlightMax && (slices <= 1 || bytes <= WireLimits.sliceBytesInFlightMax)
    }

    static func isSlice(_ frame: [UInt8]) -> Bool { frame.frameType == 2 }

    mutating func sent(_ slice: [UInt8]) {
        sizes.append(slice.count)
    }

    /// The other side says with how many slices it has dealt.
    mutating func received(_ frame: [UInt8]) {
        guard !Self.isSlice(frame), !sizes.isEmpty else { return }
        let count: UInt64
        switch try? FrameCodec.decode(frame) {
        case .acknowledge(let acknowledgement): count = acknowledgement.slices
        case .want(let want): count = want.slices
        default: return
        }
        guard count > answered else { return }
        sizes.removeFirst(min(sizes.count, Int(clamping: count - answered)))
        answered = count
    }
}
