#pragma once

#include "query/contacts.hpp"

namespace clearance {

// A body on its way through a step.
struct Passing {
    const Body& body;
    const PlacedBody& placed;
    Pose pose;
    Vec3d velocity;  // after what gravity and forces add to it
};

// A triangle that reaches only a little below a body is nearer to its side than to its top, though the surface goes on
// there: where some triangles are met face to face, those that are met from the side are left out.
void drop_side_contacts(const Passing& a, const Passing& b, std::vector<Contact>& found);

// Whether bodies that are still apart, by this gap, block each other's way. Contacts of bodies about to meet stand for
// planes that end nowhere: what would miss an edge, or only brush it, must not be stopped there. So they are moved to the
// end of the step first; if they overlap there, and the shortest way out leads back, they do. What is fast enough to be
// beyond by then is followed on its way. The margin is how much nearer they may come.
bool meet_within_step(const Passing& a, const Passing& b, const Gap& gap, double margin, double step);

}  // namespace clearance
