import Glibc

/// The sound cards that the kernel knows.
enum SoundCards {
    static var exist: Bool { paths(in: "/proc/asound", startingWith: "card").contains { $0 != "/proc/asound/cards" } }

    /// Full paths of the entries of a folder whose names start so.
    static func paths(in folder: String, startingWith prefix: String = "") -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var found: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != "..", name.hasPrefix(prefix) { found.append(folder + "/" + name) }
        }
        return found.sorted()
    }
}

/// Finds the process that holds a device, as far as `/proc` shows it to this user.
enum DeviceHolder {
    /// - Returns: such as "firefox (process 4711)".
    static func find(_ direction: AudioDeviceError.Direction, device: String) -> String? {
        let suffix: Character = direction == .capture ? "c" : "p"
        let card = cardNumber(of: device)
        return holder { path in
            guard path.hasPrefix("/dev/snd/pcmC"), path.last == suffix else { return false }
            return card.map { path.hasPrefix("/dev/snd/pcmC\($0)D") } ?? true
        }
    }

    /// The first process with an open file whose path `matches`.
    static func holder(where matches: (String) -> Bool) -> String? {
        for process in SoundCards.paths(in: "/proc") {
            guard let id = Int32(process.dropFirst("/proc/".count)), id != getpid() else { continue }
            for descriptor in SoundCards.paths(in: process + "/fd") where matches(target(of: descriptor)) {
                return "\(command(of: process)) (process \(id))"
            }
        }
        return nil
    }

    private static func cardNumber(of device: String) -> Int? {
        guard let colon = device.firstIndex(of: ":") else { return nil }
        let rest = device[device.index(after: colon)...]
        return Int(rest.replacing("CARD=", with: "").prefix { $0.isNumber })
    }

    private static func target(of link: String) -> String {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { max(0, readlink(link, $0, text.count)) } ?? 0
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func command(of process: String) -> String {
        guard let file = fopen(process + "/comm", "r") else { return "a process" }
        defer { fclose(file) }
        var bytes = [CChar](repeating: 0, count: 64)
        guard fgets(&bytes, 64, file) != nil else { return "a process" }
        let text = bytes.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
        return String(decoding: text, as: UTF8.self)
    }
}
