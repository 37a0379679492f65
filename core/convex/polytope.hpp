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
        unsigned beyond[3];  // the same edge, from corner k to the next, as the face on its other side has it: see edge_of
        Vec3d normal;        // outward, unit
        double height;       // of its plane over the origin; negative where the origin lies outside of it
        double distance;     // proved: how far the origin is from the face, if it is not outside
        bool alive;
        bool thin;  // has no normal of its own: stands for nothing but its edges
    };

    // A tetrahedron. False if it is flat, compared with `size`. Faces farther than `worth_opening` from the origin are never
    // asked for.
    bool start(const Difference (&corner)[4], double size, double worth_opening);

    // The face that is nearest to the origin, or that the origin is farthest outside of. Null if all are farther
    // than `worth_opening` was when they were made.
    const Face* nearest();

    // Replace the faces that a new vertex sees, beginning with the nearest. False if rounding leaves no proper silhouette.
    bool grow(const Difference& vertex, double worth_opening);

    std::array<Difference, 3> corners(const Face& face) const {
        return {vertex_[face.corner[0]], vertex_[face.corner[1]], vertex_[face.corner[2]]};
    }

    // Where on a the foot of the origin comes from, if it lies on this face.
    std::optional<Vec3d> point_a(const Face& face) const;

    // By how much the distances of faces may be too large, because some faces are too thin to have one.
    double doubt() const { return doubt_; }
    std::size_t vertices() const { return vertices_; }
    bool has(const Vec3d& w) const {
        for (std::size_t k = 0; k < vertices_; ++k)
            if (largest(vertex_[k].w - w) == 0.0) return true;
        return false;
    }

private:
    struct Waiting {
        double distance;
        unsigned face;
        bool operator<(const Waiting& other) const { return distance > other.distance; }
    };

    // An edge of a face, both in one number.
    static unsigned edge_of(unsigned face, unsigned edge) { return 4 * face + edge; }

    // A new vertex adds no more faces than there are, and one.
    void make_room() {
        if (vertices_ >= vertex_.size() || 2 * faces_ + 8 >= face_.size()) grow_room();
    }
    void grow_room();
    void add_face(int i, int j, int k, const Face* outside);
    void enqueue(unsigned face);
    void find_horizon(unsigned seen, const Vec3d& w);
    bool horizon_is_closed() const;

    // Room is kept from one use to the next; what is in use of it is counted.
    std::vector<Difference> vertex_;
    std::vector<Face> face_;
    std::vector<Waiting> queue_;
    std::vector<unsigned> horizon_, waiting_;  // edges of faces
    std::size_t vertices_ = 0, faces_ = 0, queued_ = 0, horizon_edges_ = 0;
    double size_ = 0.0, doubt_ = 0.0;
};

}  // namespace clearance
