import Foundation

/// What LiveKit Cloud answers to `GET /settings/regions`:
/// `{"regions": [{"region": "…", "url": "https://…", "distance": "123"}]}`, the nearest first.
enum RegionList {
    /// The URLs, in order; nil where it is not such an answer.
    static func urls(_ body: [UInt8]) -> [String]? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any],
            let regions = object["regions"] as? [[String: Any]]
        else { return nil }
        let urls = regions.compactMap { $0["url"] as? String }
        return urls.isEmpty ? nil : urls
    }
}
