#include "dynamics/encounters.hpp"
#include "dynamics/world.hpp"
#include "parallel/pool.hpp"

namespace clearance {
namespace {

constexpr std::size_t kBlock = 16;  // pairs that a thread takes at a time

}  // namespace

void World::find_contacts(int threads) {
    if (found_.size() < pairs_.size()) found_.resize(pairs_.size());
    const bool looks_ahead = settings_.law == ContactLaw::hard;
    const auto passing = [&](std::size_t k) {
        const Rigid& rigid = rigid_[k + 1];
        const double falling = rigid.motion == Motion::dynamic ? settings_.step : 0.0;
        const Vec3d velocity = rigid.velocity + falling * (settings_.gravity + rigid.inverse_mass * rigid.force);
        return Passing{*bodies_[k], placed_[k], poses_[k], velocity};
    };
    Pool::shared().for_blocks(pairs_.size(), kBlock, threads, [&](std::size_t begin, std::size_t end) {
        std::vector<PartPair> near;
        for (std::size_t k = begin; k < end; ++k) {
            const auto a = static_cast<std::size_t>(pairs_[k].first), b = static_cast<std::size_t>(pairs_[k].second);
            const double margin = looks_ahead ? rooms_[a] + rooms_[b] : 0.0;
            found_[k].clear();
            const Gap gap = find_contacts_of(pairs_[k], margin, near, found_[k]);
            if (bodies_[a]->has_surface() || bodies_[b]->has_surface())
                drop_side_contacts(passing(a), passing(b), found_[k]);
            if (gap.distance > 0.0 && !found_[k].empty() &&
                !meet_within_step(passing(a), passing(b), gap, margin, settings_.step))
                found_[k].clear();
        }
    });
}

// Of bodies with many parts only those are looked at that their trees find near.
Gap World::find_contacts_of(const BodyPair& pair, double margin, std::vector<PartPair>& near,
                            std::vector<Contact>& found) const {
    const auto a = static_cast<std::size_t>(pair.first), b = static_cast<std::size_t>(pair.second);
    const ContactRules rules{.margin = margin, .only_near = true, .field_peaks = true};
    Work work;
    if (!part_trees_.has_tree(a) && !part_trees_.has_tree(b)) return contacts(placed_[a], placed_[b], rules, found, work);
    part_trees_.near(a, {placed_[a], rooms_[a]}, b, {placed_[b], rooms_[b]}, near);
    return contacts_of_parts(placed_[a], placed_[b], near, rules, found, work);
}

}  // namespace clearance
