/// Makes a stretch of sound a little shorter or longer without changing its pitch: takes out or repeats one period
/// (2.5 to 15 ms), joined by a cross-fade where the signal is most like itself (WSOLA).
enum TimeScaler {
    private static let shortestLag = 120
    private static let longestLag = 720
    private static let quietLevel = -55.0
    private static let minimumLikeness: Float = 0.7

    /// `samples` without one period; nil where no join would be good enough, or where there is too little sound.
    static func shorten(_ samples: [Int16]) -> [Int16]? {
        guard let (lag, overlap) = period(of: samples) else { return nil }
        var output = fade(from: samples[0..<overlap], to: samples[lag..<(lag + overlap)])
        output.append(contentsOf: samples[(lag + overlap)...])
        return output
    }

    /// `samples` with one period played twice; nil as for `shorten`.
    static func lengthen(_ samples: [Int16]) -> [Int16]? {
        guard let (lag, overlap) = period(of: samples) else { return nil }
        var output = Array(samples[0..<lag])
        output.append(contentsOf: fade(from: samples[lag..<(lag + overlap)], to: samples[0..<overlap]))
        output.append(contentsOf: samples[overlap...])
        return output
    }

    private static func fade(from old: ArraySlice<Int16>, to new: ArraySlice<Int16>) -> [Int16] {
        let count = old.count
        return zip(old, new).enumerated().map { index, pair in
            let weight = (index * 2 + 1) * 16_384 / count
            return Int16((Int(pair.0) * (32_768 - weight) + Int(pair.1) * weight) >> 15)
        }
    }

    /// The lag at which the beginning of `samples` is most like what follows, and the length of the join.
    private static func period(of samples: [Int16]) -> (lag: Int, overlap: Int)? {
        let overlap = min(240, samples.count / 4)
        let longest = min(longestLag, samples.count - overlap)
        guard overlap >= 60, longest > shortestLag else { return nil }
        if AudioLevel.decibels(samples) < quietLevel { return (min(longest, 480), overlap) }
        var best = likeliest(
            samples, overlap: overlap, lags: stride(from: shortestLag, through: longest, by: 4), step: 4)
        let near = stride(from: max(shortestLag, best.lag - 3), through: min(longest, best.lag + 3), by: 1)
        best = likeliest(samples, overlap: overlap, lags: near, step: 1)
        return best.likeness >= minimumLikeness ? (best.lag, overlap) : nil
    }

    /// The lag of the greatest normalised correlation, looking at every `step`th sample.
    private static func likeliest(
        _ samples: [Int16], overlap: Int, lags: StrideThrough<Int>, step: Int
    ) -> (lag: Int, likeness: Float) {
        samples.withUnsafeBufferPointer { buffer in
            var best = (lag: shortestLag, likeness: -Float.infinity)
            for lag in lags {
                var cross: Float = 0
                var first: Float = 1
                var second: Float = 1
                var index = 0
                while index < overlap {
                    let a = Float(buffer[index])
                    let b = Float(buffer[index + lag])
                    cross += a * b
                    first += a * a
                    second += b * b
                    index += step
                }
                let likeness = cross / (first * second).squareRoot()
                if likeness > best.likeness { best = (lag, likeness) }
            }
            return best
        }
    }
}
