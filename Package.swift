// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The include flags of a C library whose pkg-config file also carries flags that SwiftPM refuses with a warning
/// (`-pthread`), or whose headers only one C++ file needs: asked for directly, so that the build stays silent.
func includeFlags(of library: String, prefix: [String]) -> [String] {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["pkg-config", "--cflags-only-I", library]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return [] }
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
        .split(whereSeparator: \.isWhitespace)
        .flatMap { prefix + [String($0)] }
}

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .unsafeFlags(includeFlags(of: "libsoup-3.0", prefix: ["-Xcc"])),
]

func library(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: [.target(name: name)] + dependencies, swiftSettings: settings)
}

func system(_ name: String, apt: String, pkgConfig: String? = nil) -> Target {
    .systemLibrary(name: name, path: "Sources/System/" + name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

let package = Package(
    name: "agentctl",
    products: [
        .executable(name: "agentctl", targets: ["agentctl"]),
        .library(name: "AgentCore", targets: ["AgentCore"]),
        .library(name: "AgentSandbox", targets: ["AgentSandbox"]),
    ],
    targets: [
        // C libraries.
        system("CGLib", apt: "libglib2.0-dev", pkgConfig: "glib-2.0"),
        system("CSoup", apt: "libsoup-3.0-dev"),
        system("CNice", apt: "libnice-dev"),
        system("COpenSSL", apt: "libssl-dev"),
        system("CSRTP", apt: "libsrtp2-dev"),
        system("CUsrsctp", apt: "libusrsctp-dev"),
        system("COpus", apt: "libopus-dev", pkgConfig: "opus"),
        system("CALSA", apt: "libasound2-dev"),
        system("CSndfile", apt: "libsndfile1-dev"),
        system("CSpeexDSP", apt: "libspeexdsp-dev"),
        system("CYAML", apt: "libyaml-dev"),
        system("CEspeak", apt: "libespeak-ng-dev"),

        // The one library with a C++ face, behind a shim in C.
        .target(
            name: "CAudioProcessing", path: "Sources/System/CAudioProcessing",
            cxxSettings: [
                .define("WEBRTC_POSIX"), .define("WEBRTC_AUDIO_PROCESSING_ONLY_BUILD"),
                .unsafeFlags(includeFlags(of: "webrtc-audio-processing", prefix: [])),
            ],
            linkerSettings: [.linkedLibrary("webrtc_audio_processing")]),

        // Libraries; each depends only on those above it.
        library("LoopCore", ["CGLib"]),
        library("WebIO", ["LoopCore", "CGLib", "CSoup"]),
        library("LiveKitProtocol", []),
        library("RTCTransport", ["LoopCore", "CGLib", "CNice", "COpenSSL", "CSRTP", "CUsrsctp"]),
        library("AudioPipeline", ["LoopCore", "COpus", "CALSA", "CSndfile", "CSpeexDSP", "CAudioProcessing"]),
        library(
            "AgentCore", ["LoopCore", "CGLib", "WebIO", "LiveKitProtocol", "RTCTransport", "AudioPipeline", "CYAML"]),
        library(
            "AgentSandbox",
            [
                "LoopCore", "WebIO", "LiveKitProtocol", "RTCTransport", "AudioPipeline", "AgentCore", "CEspeak",
                "CGLib",
            ]),

        // Executables.
        .executableTarget(
            name: "agentctl", dependencies: ["AgentCore", "AgentSandbox", "AudioPipeline", "LoopCore", "WebIO"],
            swiftSettings: settings),
        .executableTarget(
            name: "Benchmarks",
            dependencies: ["AgentCore", "AgentSandbox", "AudioPipeline", "LiveKitProtocol", "LoopCore", "COpus"],
            swiftSettings: settings),
        // What Tests/Interop/check_protocol.py compares with the official descriptors and Python's protobuf.
        .executableTarget(
            name: "protocol-tool", dependencies: ["LiveKitProtocol"], path: "Tests/Interop/ProtocolTool",
            swiftSettings: settings),

        // Sound devices for tests on machines without any.
        .target(name: "TestDevices", path: "Tests/TestDevices", swiftSettings: settings),

        // Watches the audio threads of a process of its own.
        .target(name: "AllocationCounter", path: "Tests/RealTime/AllocationCounter"),
        .executableTarget(
            name: "realtime-probe", dependencies: ["AllocationCounter", "AudioPipeline", "LoopCore"],
            path: "Tests/RealTime/Probe", swiftSettings: settings),

        tests(of: "LoopCore"),
        tests(of: "WebIO"),
        tests(of: "LiveKitProtocol"),
        tests(of: "RTCTransport"),
        tests(of: "AudioPipeline", ["TestDevices"]),
        tests(of: "AgentCore"),
        tests(of: "AgentSandbox", ["TestDevices"]),
        tests(of: "agentctl", ["TestDevices"]),
    ]
)
