// Contacts of any two bodies: where there are some, how many and how deep, by both methods, and for some of the parts only.
#include "bodies.hpp"
#include "contract.hpp"
#include "query/contacts.hpp"
#include "query/distance.hpp"

using namespace clearance;
using namespace clearance::fuzz;

namespace {

struct Touching {
    const Body &a, &b;
    PlacedBody at_a, at_b;
    double size, rounding;

    std::vector<Contact> found(const ContactRules& rules, Gap* gap = nullptr) const {
        std::vector<Contact> contacts;
        Work work;
        const Gap nearest = clearance::contacts(at_a, at_b, rules, contacts, work);
        if (gap != nullptr) *gap = nearest;
        return contacts;
    }
};

bool is_ground(const Part& part) { return surface_of(part) != nullptr && surface_of(part)->solid_below; }

bool has_ground(const Body& a, const Body& b) {
    for (const Body* body : {&a, &b})
        for (const Part& part : body->parts())
            if (is_ground(part)) return true;
    return false;
}

void check_contact(const Touching& t, const Contact& contact, const ContactRules& rules, double allowed) {
    require(is_finite(contact.point) && std::isfinite(contact.depth), "contacts are finite", "depth %g", contact.depth);
    require_unit(contact.normal, "a normal of a contact has length one");
    require(contact.depth >= -rules.margin - allowed, "contacts are within the margin", "%.17g, not %.17g", contact.depth,
            rules.margin);
    const auto exists = [](const Body& body, std::int32_t part, std::int32_t triangle) {
        if (part < 0 || std::size_t(part) >= body.parts().size()) return false;
        const Surface* surface = surface_of(body.parts()[std::size_t(part)]);
        return surface == nullptr ? triangle == -1 : triangle >= 0 && std::size_t(triangle) < surface->mesh->faces.size();
    };
    require(exists(t.a, contact.part_a, contact.triangle_a), "a has the part that touches", "%d", contact.part_a);
    require(exists(t.b, contact.part_b, contact.triangle_b), "b has the part that touches", "%d", contact.part_b);
}

// Faces of hulls that make small angles count as one, which is known no better than they are flat.
bool has_hull(const Body& body) {
    const auto* convex = std::get_if<Convex>(&body.parts().front().shape);
    return convex != nullptr && std::holds_alternative<HullPointer>(convex->core);
}

// A pair of solids has at most four points, and there is one as deep as they overlap.
void check_solids(const Touching& t, const std::vector<Contact>& contacts, const ContactRules& rules, const Gap& gap) {
    if (!is_convex(t.a) || !is_convex(t.b)) return;
    require(contacts.size() <= 4, "solids have up to four contacts", "%d", int(contacts.size()));
    if (contacts.empty() || rules.method != DepthMethod::epa || has_hull(t.a) || has_hull(t.b)) return;
    double deepest = contacts.front().depth;
    for (const Contact& contact : contacts) deepest = max_of(deepest, contact.depth);
    require(abs_of(deepest + gap.distance) <= 1e-3 * t.size + t.rounding, "the deepest contact is as deep as they overlap",
            "%.17g, distance %.17g", deepest, gap.distance);
}

void check(const Touching& t, const ContactRules& rules) {
    Gap gap;
    const std::vector<Contact> contacts = t.found(rules, &gap);
    const double allowed = 1e-6 * t.size + t.rounding;
    for (const Contact& contact : contacts) check_contact(t, contact, rules, allowed);
    check_solids(t, contacts, rules, gap);
    ContactRules near = rules;
    near.only_near = true;
    require(t.found(near).size() == contacts.size(), "parts that are far apart have no contacts");
    if (has_ground(t.a, t.b)) return;
    Work work;
    const Gap measured = distance(t.at_a, t.at_b, {}, work);
    const bool is_met = t.a.has_surface() || t.b.has_surface();
    const double margin = is_met ? 0.0 : rules.margin;
    if (measured.lower > rules.margin + allowed) require(contacts.empty(), "what is apart has no contacts");
    if (measured.upper < margin - allowed)
        require(!contacts.empty(), "what overlaps has contacts", "in [%.17g, %.17g]", measured.lower, measured.upper);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    const double scale = bytes.power(-6, 6);
    const Body a = body(bytes, scale, Parts::all);
    const Body b = body(bytes, scale * bytes.power(-3, 3), a.is_finite() ? Parts::all : Parts::finite);
    const double sum = size_of(a) + size_of(b);
    const Pose at_a = bytes.pose(scale);
    Pose at_b = bytes.pose(sum);
    ContactRules rules{bytes.flag() ? DepthMethod::mpr : DepthMethod::epa};
    rules.margin = bytes.flag() ? 0.1 * std::fabs(bytes.unit()) * sum : 0.0;
    rules.has_shortcuts = bytes.flag(), rules.field_peaks = bytes.flag();
    const auto wanted_rule = PlaneRule(bytes.below(4));
    if (has_plane_rule(a, wanted_rule) && has_plane_rule(b, wanted_rule)) rules.plane = wanted_rule;
    Work work;
    if (bytes.flag()) {
        const Gap gap = distance(a, at_a, b, at_b, {}, work);
        const double wanted = bytes.unit() * bytes.power(-12, 0) * sum;
        at_b.translation = at_b.translation + (wanted - gap.distance) * gap.normal;
    }
    const auto reach = [](const Body& body) { return body.is_finite() ? largest(body.ball().centre) : 0.0; };
    const double rounding =
        64.0 * kEpsilon * (sum + scale + reach(a) + reach(b) + largest(at_a.translation) + largest(at_b.translation));
    Touching touching{a, b, PlacedBody(a), PlacedBody(b), sum, rounding};
    touching.at_a.place(at_a), touching.at_b.place(at_b);
    check(touching, rules);
    return 0;
}
