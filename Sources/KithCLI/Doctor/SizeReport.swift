import Kith

/// What `kith doctor --size` says. All numbers are bytes, but for `trashRows` and the rows of devices.
struct SizeReport: Encodable {
    struct Table: Encodable {
        let name: String
        let bytes: Int
        let isTracked: Bool
    }

    struct Device: Encodable {
        /// `nil` for this device, and where the device is not known.
        let device: String?
        let name: String
        let rows: Int
        let bytes: Int
        let textBytes: Int
        let hiddenBytes: Int
        let attachmentBytes: Int64
        let attachmentsNotFetched: Int

        /// In the database's file.
        var fileBytes: Int { bytes + textBytes + hiddenBytes }

        init(_ share: StoreShare, _ names: DeviceNames) {
            if case .device(let bytes) = share.author { device = DeviceID(bytes: bytes)?.description } else { device = nil }
            name = names[share.author] ?? device ?? "unknown"
            (rows, bytes, textBytes, hiddenBytes) = (share.rows, share.bytes, share.textBytes, share.hiddenBytes)
            (attachmentBytes, attachmentsNotFetched) = (share.attachmentBytes, share.attachmentsNotFetched)
        }
    }

    let fileBytes: Int
    let freeBytes: Int
    /// `nil` where this SQLite cannot tell.
    let dataBytes: Int?
    let metadataBytes: Int?
    /// Of the data.
    let metadataPercent: Double?
    let metadata: [String: Int]
    let tables: [Table]
    let trashRows: Int
    let trashBytes: Int
    let devices: [Device]

    init(_ size: StoreSize, _ names: DeviceNames) {
        fileBytes = size.fileBytes
        freeBytes = size.freeBytes
        dataBytes = size.isDetailed ? size.dataBytes : nil
        metadataBytes = size.isDetailed ? size.metadataBytes : nil
        metadataPercent =
            size.isDetailed && size.dataBytes > 0
            ? (Double(size.metadataBytes) / Double(size.dataBytes) * 1_000).rounded() / 10 : nil
        metadata = Dictionary(uniqueKeysWithValues: size.metadata.map { ($0.rawValue, $1) })
        tables = size.tables.map { Table(name: $0.name, bytes: $0.bytes, isTracked: $0.isTracked) }
        trashRows = size.trashRows
        trashBytes = size.trashBytes
        devices = size.shares.map { Device($0, names) }
    }

    func write(to console: Console) throws {
        var table = TextTable(header: ["WHAT", "SIZE", ""], flexibleColumns: 2)
        func add(_ name: String, _ bytes: Int, _ remark: String = "", _ style: TextStyle? = nil) {
            table.rows.append([.init(name, style), .init(Self.text(bytes)), .init(remark, .dim)])
        }
        add("File", fileBytes, "", .bold)
        if let dataBytes {
            add("Data", dataBytes, "", .bold)
            for entry in tables { add("  " + entry.name, entry.bytes, entry.isTracked ? "synchronised" : "") }
        }
        if let metadataBytes {
            add("Kith's own", metadataBytes, metadataPercent.map { "\($0) % of the data" } ?? "", .bold)
            for kind in StoreSize.Metadata.allCases {
                if let bytes = metadata[kind.rawValue] { add("  " + kind.label, bytes) }
            }
        }
        add("Trash", trashBytes, trashRows == 1 ? "1 row" : "\(trashRows) rows", .bold)
        add("Free", freeBytes, "for new notes", .bold)
        if !devices.isEmpty { add("Written by", devices.reduce(0) { $0 + $1.fileBytes }, "", .bold) }
        for device in devices {
            let texts = device.textBytes > 0 ? ", \(Self.text(device.textBytes)) of histories of texts" : ""
            let hidden = device.hiddenBytes > 0 ? ", \(Self.text(device.hiddenBytes)) not shown" : ""
            let rows = device.rows == 1 ? "1 row" : "\(device.rows) rows"
            let attached = device.attachmentBytes > 0 ? ", \(Self.text(Int(device.attachmentBytes))) of attachments beside the file" : ""
            let missing = device.attachmentsNotFetched
            let waiting = missing > 0 ? ", \(missing) attachment\(missing == 1 ? "" : "s") not fetched unasked" : ""
            add("  " + PlainText.line(device.name), device.fileBytes, rows + texts + hidden + attached + waiting)
        }
        try table.write(to: console)
        if dataBytes == nil {
            try console.writeLine("This SQLite cannot say what belongs to which table; it was built without dbstat.")
        }
    }

    private static func text(_ bytes: Int) -> String {
        switch bytes {
        case ..<1_024: "\(bytes) B"
        case ..<(1 << 20): "\(bytes >> 10) KiB"
        default: "\((Double(bytes) / Double(1 << 20) * 10).rounded() / 10) MiB"
        }
    }
}

extension StoreSize.Metadata {
    fileprivate var label: String {
        switch self {
        case .clocks: "clocks of rows"
        case .commits: "index of commits"
        case .hidden: "rows not shown"
        case .digest: "digest"
        case .texts: "histories of texts"
        case .other: "everything else"
        }
    }
}
