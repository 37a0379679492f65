#pragma once

#include <array>
#include <optional>
#include <vector>

#include "convex/minkowski.hpp"

namespace clearance {

// A polytope inside A - B that grows towards its boundary where that is nearest to the origin. Faces are triangles that
// turn counter-clockwise seen from outside.
class Polytope {
public:
    struct Face {
        int corner[3];
        int neighbour[3];  // across the edge from corner k to the next
        Vec3d normal;      // outward, unit
        double height;     // of its plane over the origin; negative where the origin lies outside of it
        double distance;   // proved: how far the origin is from the face, if it is not outside
        bool alive;
        bool thin;  // has no normal of its own: stands for nothing but its edges
    };

    // A tetrahedron. False if it is flat, compared with `size`.
    bool start(const Difference (&corner)[4], double size);

    // The face that is nearest to the origin, or that the origin is farthest outside of. Null if all are farther
    // than `worth_opening` was when they were made.
    const Face* nearest();

    // Replace the faces that a new vertex sees, beginning with the nearest. Faces farther than `worth_opening` from the
    // origin are never asked for again. False if rounding leaves no proper silhouette.
    bool grow(const Difference& vertex, double worth_opening);

    std::array<Difference, 3> corners(const Face& face) const {
        return {vertex_[face.corner[0]], vertex_[face.corner[1]], vertex_[face.corner[2]]};
    }

    // Where on a the foot of the origin comes from, if it lies on this face.
    std::optional<Vec3d> point_a(const Face& face) const;

    // By how much the distances of faces may be too large, because some faces are too thin to have one.
    double doubt() const { return doubt_; }
    std::size_t vertices() const { return vertex_.size(); }

private:
    struct Waiting {
        double distance;
        int face;
        bool operator<(const Waiting& other) const { return distance > other.distance; }
    };
    struct EdgeOfFace {
        int face, edge;
    };

    void add_face(int i, int j, int k, int outside);
    void enqueue(int face);
    EdgeOfFace across(int face, int edge) const;
    void find_horizon(EdgeOfFace from, const Vec3d& w);
    bool horizon_is_closed() const;

    std::vector<Difference> vertex_;
    std::vector<Face> face_;
    std::vector<Waiting> queue_;
    std::vector<EdgeOfFace> horizon_, waiting_;
    double size_ = 0.0, doubt_ = 0.0;
};

}  // namespace clearance
