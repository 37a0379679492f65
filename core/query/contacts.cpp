#include "query/contacts.hpp"

#include "query/surface_contacts.hpp"

namespace clearance {
namespace {

Gap contacts_of_solids(const PlacedPart& a, const PlacedPart& b, const ContactRules& rules, std::vector<Contact>& found,
                       Work& work) {
    const Gap gap =
        gap_between(a, b, {.at_most = rules.margin, .method = rules.method, .has_shortcuts = rules.has_shortcuts}, work);
    if (gap.distance <= rules.margin) add_contacts(a, b, gap, rules.plane, rules.margin, found);
    return gap;
}

// Ground goes down without end.
bool has_ground(const PlacedBody& a, std::size_t i, const PlacedBody& b, std::size_t j) {
    const auto is_ground = [](const Part& part) { return surface_of(part) != nullptr && surface_of(part)->solid_below; };
    return is_ground(a.part(i, {0, 0, 0}).part) || is_ground(b.part(j, {0, 0, 0}).part);
}

// Whether balls around two parts prove them farther apart than the margin; those of half-spaces are infinite.
bool are_far_apart(const BallColumns& a, std::size_t i, const BallColumns& b, std::size_t j, const Vec3d& b_origin,
                   double margin) {
    const Vec3d between{b.x[j] - a.x[i] + b_origin.x, b.y[j] - a.y[i] + b_origin.y, b.z[j] - a.z[i] + b_origin.z};
    const double reach = (a.radius[i] + b.radius[j] + margin) * (1.0 + 1e-9);
    return norm_sq(between) > reach * reach;
}

// Part by part, and the nearest gap of all.
class ContactsOfBodies {
public:
    ContactsOfBodies(const PlacedBody& a, const PlacedBody& b, const ContactRules& rules, std::vector<Contact>& found,
                     Work& work)
        : a_(a), b_(b), rules_(rules), found_(found), work_(work), b_origin_(b.origin() - a.origin()), first_(found.size()) {
        ++work.pairs;
    }

    void add(std::size_t i, std::size_t j) {
        if (rules_.only_near && !has_ground(a_, i, b_, j) &&
            are_far_apart(a_.balls(), i, b_.balls(), j, b_origin_, rules_.margin))
            return;
        const PlacedPart part_a = a_.part(i, {0, 0, 0}), part_b = b_.part(j, b_origin_);
        const std::size_t begin = found_.size();
        const Gap gap = has_surface(part_a.part, part_b.part) ? contacts_of_surfaces(part_a, part_b, rules_, found_, work_)
                                                              : contacts_of_solids(part_a, part_b, rules_, found_, work_);
        for (std::size_t k = begin; k < found_.size(); ++k)
            found_[k].part_a = static_cast<std::int32_t>(i), found_[k].part_b = static_cast<std::int32_t>(j);
        if (!(gap.distance >= nearest_.distance)) nearest_ = gap;
    }

    Gap finish() {
        for (std::size_t k = first_; k < found_.size(); ++k) found_[k].point = found_[k].point + a_.origin();
        return nearest_;
    }

private:
    const PlacedBody &a_, &b_;
    const ContactRules& rules_;
    std::vector<Contact>& found_;
    Work& work_;
    Vec3d b_origin_;
    std::size_t first_;
    Gap nearest_ = farther_than_asked(std::numeric_limits<double>::infinity());
};

}  // namespace

Gap contacts(const PlacedBody& a, const PlacedBody& b, const ContactRules& rules, std::vector<Contact>& found, Work& work) {
    ContactsOfBodies between(a, b, rules, found, work);
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j) between.add(i, j);
    return between.finish();
}

Gap contacts_of_parts(const PlacedBody& a, const PlacedBody& b, std::span<const PartPair> pairs, const ContactRules& rules,
                      std::vector<Contact>& found, Work& work) {
    ContactsOfBodies between(a, b, rules, found, work);
    for (const auto& [i, j] : pairs) between.add(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    return between.finish();
}

bool has_plane_rule(const Body& body, PlaneRule rule) {
    for (const Part& part : body.parts()) {
        const Convex* convex = std::get_if<Convex>(&part.shape);
        if (convex != nullptr && !has_plane_rule(convex->core, rule)) return false;
        if (surface_of(part) != nullptr && rule == PlaneRule::section) return false;
    }
    return true;
}

}  // namespace clearance
