import KithLedger
import KithSQLite
import KithTexts

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The machine a store runs on, and which of its runs this is.
package struct HostIdentity: Hashable, Sendable {
    /// Stays the same for the life of an installation.
    package var machine: String
    /// Changes with every start of the machine.
    package var boot: String

    package init(machine: String, boot: String) {
        self.machine = machine
        self.boot = boot
    }

    /// This machine.
    package static let current = HostIdentity(machine: currentMachine(), boot: currentBoot())

    #if os(Linux)
    /// See machine-id(5). A machine without one is told apart by its name.
    private static func currentMachine() -> String {
        SmallFile.read("/etc/machine-id").flatMap(firstLine) ?? hostName()
    }

    /// See proc_sys_kernel(5), `random/boot_id`.
    private static func currentBoot() -> String {
        SmallFile.read("/proc/sys/kernel/random/boot_id").flatMap(firstLine) ?? ""
    }

    private static func firstLine(_ bytes: [UInt8]) -> String? {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    private static func hostName() -> String {
        var name = [UInt8](repeating: 0, count: 256)
        let code = name.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text -> Int32 in
                guard let base = text.baseAddress else { return -1 }
                return gethostname(base, text.count - 1)
            }
        }
        return code == 0 ? String(decoding: name.prefix { $0 != 0 }, as: UTF8.self) : ""
    }
    #else
    private static func currentMachine() -> String { systemValue("kern.uuid") ?? "" }
    private static func currentBoot() -> String { systemValue("kern.bootsessionuuid") ?? "" }

    /// See sysctl(3).
    private static func systemValue(_ name: String) -> String? {
        var count = 256
        var value = [UInt8](repeating: 0, count: count)
        guard sysctlbyname(name, &value, &count, nil, 0) == 0 else { return nil }
        return String(decoding: value.prefix(count).prefix { $0 != 0 }, as: UTF8.self)
    }
    #endif
}
