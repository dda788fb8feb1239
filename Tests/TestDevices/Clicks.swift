/// Finds clicks: steps between two samples that are much greater than any around them.
public enum Clicks {
    /// Samples on either side of a step that it is compared with: 4 ms.
    private static let reach = 192
    /// Steps within so many samples belong to the click itself.
    private static let width = 3

    /// The positions of the clicks.
    /// - Parameters:
    ///   - ratio: how much greater a step has to be than the greatest around it.
    ///   - floor: smaller steps are not heard.
    public static func find(in samples: [Int16], ratio: Int = 3, floor: Int = 600) -> [Int] {
        guard samples.count > 2 else { return [] }
        let steps = zip(samples, samples.dropFirst()).map { abs(Int($1) - Int($0)) }
        var found: [Int] = []
        for (index, step) in steps.enumerated() where step > floor {
            if let last = found.last, index - last < reach { continue }
            let before = steps[max(0, index - reach)..<max(0, index - width)].max() ?? 0
            let after = steps[min(steps.count, index + width + 1)..<min(steps.count, index + reach)].max() ?? 0
            // A step up from silence into sound is one only if the sound itself does not move like that.
            if step > ratio * max(before, after, 1) { found.append(index + 1) }
        }
        return found
    }
}
