/// Numbers of bytes, for people.
package enum ByteText {
    package static func text(_ bytes: Int64) -> String {
        switch bytes {
        case ..<1_024: "\(bytes) B"
        case ..<(1 << 20): "\(bytes >> 10) KiB"
        case ..<(1 << 30): "\((Double(bytes) / Double(1 << 20) * 10).rounded() / 10) MiB"
        default: "\((Double(bytes) / Double(1 << 30) * 10).rounded() / 10) GiB"
        }
    }
}
