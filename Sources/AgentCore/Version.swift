/// The version of this program and library (semantic versioning).
public let agentctlVersion = "0.1.0"
