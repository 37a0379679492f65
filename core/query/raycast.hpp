#pragma once

#include <shared_mutex>

#include "bvh/ray_tree.hpp"
#include "bvh/raycast.hpp"
#include "query/body.hpp"

namespace clearance {

// Rays one after the other, three numbers for an origin and for a direction, one for a range. A stride of zero repeats one
// for all rows.
struct RayRows {
    const double *origins, *directions, *ranges;
    std::size_t origin_stride, direction_stride, range_stride;
    std::size_t count;
};

struct RayRules {
    bool any = false;                            // some hit in range will do
    bool by_part = false;                        // numbers of parts, not of bodies, are wanted
    const std::uint8_t* ignored = nullptr;       // for every body whether rays pass through it
    const std::int32_t* hint_index = nullptr;    // for every row what was hit earlier,
    const std::int32_t* hint_feature = nullptr;  // to begin with
    int threads = 0;                             // all cores
};

// Where answers go. A miss is infinitely far away and at number -1.
struct RayColumns {
    double *distance, *point, *normal;
    std::int32_t *index, *feature;
};

// Many bodies where they stand, and trees over their parts for rays. Rays may be cast by several threads at a time, and
// none is under way while bodies move.
class RayTarget {
public:
    RayTarget(std::vector<std::shared_ptr<const Body>> bodies, const std::vector<Pose>& poses);

    void move(const std::vector<Pose>& poses);
    std::size_t body_count() const { return bodies_.size(); }
    std::size_t part_count() const { return parts_.size(); }

    // Directions may have any length but zero. Returns the number of the first row that is no ray, or the count of rows.
    std::size_t cast(const RayRows& rays, const RayRules& rules, const RayColumns& out, Work& work) const;

private:
    friend class RayCaster;

    // A part where it stands. Lines are brought near its middle before they are turned into its frame.
    enum class Kind : std::int8_t { box, element, cylinder, cone, ellipsoid, swept, half_space, mesh };
    struct PlacedRayPart {
        PlacedBox box;    // the rotation to the world, the middle in the world, and half lengths of a box
        Vec3d in_frame;   // the middle in the frame of the part
        Element element;  // about the middle
        const Part* part;
        const RayMesh* tree;       // of a mesh or cloud
        std::int32_t body, index;  // of the body, and of the part in it
        Kind kind;

        Vec3d to_world(const Vec3d& v) const { return {dot(box.row[0], v), dot(box.row[1], v), dot(box.row[2], v)}; }
        Vec3d to_frame(const Vec3d& v) const { return v.x * box.row[0] + v.y * box.row[1] + v.z * box.row[2]; }
    };

    void place(const std::vector<Pose>& poses);
    void build_trees();
    RayBox box_around(const PlacedRayPart& part) const;

    std::vector<std::shared_ptr<const Body>> bodies_;
    std::vector<std::int32_t> first_part_;  // of every body, and the end
    std::vector<PlacedRayPart> parts_;      // body after body
    std::vector<RayBox> boxes_;
    std::vector<RayTree> trees_;
    std::vector<std::int32_t> apart_;  // infinite parts, and the few that no tree is worth while for
    mutable std::shared_mutex mutex_;
};

}  // namespace clearance
