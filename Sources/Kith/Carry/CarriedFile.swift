import Foundation
import KithSync
import KithTrust

/// A file that another device made by `kith carry out`: opened, read to its end and found to be whole and signed.
///
/// What is read of it from then on is a copy on this machine's disk, without a name: the stick may be pulled, and nobody can put something
/// else in its place.
struct CarriedFile {
    /// Most bytes of a file.
    static let bytesMax: Int64 = 1 << 40
    /// Most frames about the household.
    static let householdFramesMax = 64
    private static let copyBytes = 1 << 20

    /// The file's first record.
    let head: CarriedHead
    /// What its writer says of itself and knows.
    let hello: Hello
    /// Records of the household that the file brings.
    let records: [[UInt8]]
    let bytes: Int64
    private let copy: CarryHandle
    private let envelope: HouseholdEnvelope

    // MARK: Opening

    /// Whether the file at `path` is a regular one that begins as carried files do.
    static func isCarried(_ path: String) -> Bool {
        guard let handle = try? CarryHandle.open(path), let beginning = try? handle.read(at: 0, count: HouseholdEnvelope.magic.count) else {
            return false
        }
        return HouseholdEnvelope.isBeginning(beginning)
    }

    /// Whether the regular file at `path` is called as carried files are: if it does not begin as they do, its beginning was lost.
    static func isNamed(_ path: String) -> Bool {
        path.hasSuffix(Carrier.fileEnding) && (try? CarryHandle.open(path)) != nil
    }

    /// Reads the whole file.
    ///
    /// - Parameters:
    ///   - scratch: a folder on this machine's disk.
    ///   - bytesMax: most bytes of the file; a test makes it little.
    /// - Throws: ``CarryError``; nothing has changed then.
    init(_ path: String, _ trust: TrustStore, scratch: URL, bytesMax: Int64 = Self.bytesMax) throws {
        let source = try CarryHandle.open(path)
        let beginning = try source.read(at: 0, count: HouseholdEnvelope.magic.count)
        let damaged = CarryError(.damaged, "\(path) is damaged, or breaks off. Nothing of it was taken in; carry it out again.")
        guard HouseholdEnvelope.isBeginning(beginning) else {
            throw Self.isNamed(path) ? damaged : CarryError(.notCarried, "\(path) is no file of kith carry.")
        }
        guard beginning == HouseholdEnvelope.magic else {
            throw CarryError(.notCarried, "\(path) was made by a newer version of Kith, or is damaged. Update Kith on this machine.")
        }
        copy = try CarryHandle.makeNameless(in: scratch)
        bytes = try Self.copy(source, to: copy, bytesMax: bytesMax, path)
        guard let header = try Self.header(of: copy) else { throw damaged }
        guard let envelope = trust.open(header) else {
            throw CarryError(
                .notForUs,
                """
                \(path) is sealed for another household, or by a secret that this machine has not heard of. Nothing of it was taken in. \
                If it is from a machine of yours, let that one read a file of this machine first, or meet it on the network.
                """)
        }
        self.envelope = envelope
        var check = Check(header)
        guard try Self.read(copy, envelope, bytes, { check.take($0) }), let contents = check.contents else { throw damaged }
        (head, hello, records) = (contents.head, contents.hello, contents.records)
    }

    private static func copy(_ source: CarryHandle, to copy: CarryHandle, bytesMax: Int64, _ path: String) throws -> Int64 {
        var offset: Int64 = 0
        while true {
            let bytes = try source.read(at: offset, count: copyBytes)
            if bytes.isEmpty { return offset }
            offset += Int64(bytes.count)
            guard offset <= bytesMax else { throw CarryError(.damaged, "\(path) has more than \(bytesMax) bytes. Nothing of it was read.") }
            do {
                try copy.append(bytes)
            } catch {
                guard error.code == .diskFull else { throw error }
                throw CarryError(.diskFull, "This machine's disk has no room to read \(path). Nothing of it was taken in; free some space.")
            }
        }
    }

    private static func header(of file: CarryHandle) throws -> [UInt8]? {
        var offset: Int64 = 0
        return try HouseholdEnvelope.read { count in
            defer { offset += Int64(count) }
            return try file.read(at: offset, count: count)
        }
    }

    /// What a file says at its beginning.
    struct Beginning {
        /// What no other file has.
        let mark: [UInt8]
        let head: CarriedHead
        let hello: Hello
        /// What it tells of the household; `nil` if that breaks off, or is not understood.
        let household: [HouseholdMessage]?
    }

    /// The beginning of the file at `path`; `nil` if it is sealed for others or begins otherwise.
    ///
    /// This reads no further, and so cannot check the signature: a stranger who knows the public keys may have made the file up. So the
    /// caller must change nothing by what it says.
    static func beginning(of path: String, _ trust: TrustStore) throws -> Beginning? {
        let file = try CarryHandle.open(path)
        guard let header = try header(of: file), let envelope = trust.open(header) else { return nil }
        var head: CarriedHead?
        var hello: Hello?
        var household: [HouseholdMessage]? = []
        var (isComplete, count) = (false, 0)
        _ = try read(file, envelope, file.size()) { record in
            guard head != nil else {
                head = CarriedHead(record)
                return head != nil
            }
            guard hello != nil else {
                if case .hello(let said)? = try? FrameCodec.decode(record) { hello = said }
                return hello != nil
            }
            count += 1
            guard record.first == CarriedRecord.householdType, count <= householdFramesMax else {
                isComplete = record.first != CarriedRecord.householdType
                return false
            }
            if case .household(let bytes)? = try? FrameCodec.decode(record), let message = HouseholdMessage(bytes) {
                household?.append(message)
            } else {
                household = nil
            }
            return true
        }
        guard let head, let hello else { return nil }
        return Beginning(mark: envelope.mark, head: head, hello: hello, household: isComplete ? household : nil)
    }

    // MARK: Reading

    /// Hands the frames of the session to `body` until it returns `false`.
    func forEachFrame(_ body: ([UInt8]) throws -> Bool) throws {
        let isWhole = try Self.read(copy, envelope, bytes) { record in
            record.first == CarriedRecord.headType || record.first == CarriedRecord.endType ? true : try body(record)
        }
        if !isWhole { throw CarryError(.inputOutput, "What was copied from the stick has changed on this machine's disk.") }
    }

    /// - Returns: whether all pieces are as they were sealed, and make whole records.
    private static func read(
        _ file: CarryHandle, _ envelope: HouseholdEnvelope, _ size: Int64, _ body: ([UInt8]) throws -> Bool
    ) throws -> Bool {
        var opener = envelope.opener()
        var decoder = FrameDecoder()
        var offset = Int64(envelope.header.count)
        while offset < size {
            let count = Int(min(Int64(SealedPieces.sealedBytes), size - offset))
            let sealed = try file.read(at: offset, count: count)
            offset += Int64(count)
            guard let bytes = opener.open(sealed, isLast: offset == size) else { return false }
            let step = try bytes.withUnsafeBytes { buffer -> FrameDecoder.Step in
                var rest = buffer[...]
                while true {
                    let step = decoder.next(from: &rest, limit: WireLimits.frameBytesMax)
                    guard case .frame(let record) = step else { return step }
                    if try !body(record) { return .frame([]) }
                }
            }
            switch step {
            case .frame: return true
            case .needsMore: continue
            case .overLimit, .empty: return false
            }
        }
        return opener.count > 0 && !decoder.isInsideFrame
    }

    /// What the first reading looks at.
    private struct Check {
        private var hash = RunningHash()
        private var head: CarriedHead?
        private var hello: Hello?
        private var records: [[UInt8]] = []
        private var householdFrames = 0
        private var isSigned = false

        init(_ header: [UInt8]) {
            hash.add(header)
        }

        /// The contents of a file that was read to its end.
        var contents: (head: CarriedHead, hello: Hello, records: [[UInt8]])? {
            guard isSigned, let head, let hello else { return nil }
            return (head, hello, records)
        }

        /// - Returns: whether to go on.
        mutating func take(_ record: [UInt8]) -> Bool {
            // Nothing follows the end.
            if isSigned {
                isSigned = false
                return false
            }
            guard let head else {
                head = CarriedHead(record)
                add(record)
                return head != nil
            }
            if record.first == CarriedRecord.endType {
                isSigned = CarriedRecord.isEnd(record, of: hash, by: head.key)
                return isSigned
            }
            add(record)
            guard hello != nil else {
                guard case .hello(let said)? = try? FrameCodec.decode(record) else { return false }
                hello = said
                return true
            }
            if record.first == CarriedRecord.householdType {
                householdFrames += 1
                guard householdFrames <= CarriedFile.householdFramesMax else { return false }
                if case .household(let bytes)? = try? FrameCodec.decode(record), case .records(let some)? = HouseholdMessage(bytes) {
                    records += some
                }
            }
            return true
        }

        private mutating func add(_ record: [UInt8]) {
            hash.add(FrameDecoder.lengthBytes(of: record))
            hash.add(record)
        }
    }
}

extension FrameDecoder {
    /// What stands before a frame: its length, big-endian.
    static func lengthBytes(of frame: [UInt8]) -> [UInt8] {
        let length = header(of: frame)
        return (0..<headerBytes).map { UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * $0)) }
    }
}
