#pragma once

#include <vector>

#include "query/pair.hpp"

namespace clearance {

// A rigid union of parts, with a ball around all of them.
class Body {
public:
    explicit Body(std::vector<Part> parts);

    const std::vector<Part>& parts() const { return parts_; }
    const Ball& ball() const { return ball_; }
    bool has_surface() const { return has_surface_; }
    bool is_finite() const { return ball_.radius < std::numeric_limits<double>::infinity(); }

private:
    std::vector<Part> parts_;
    Ball ball_;
    bool has_surface_ = false;
};

// Balls column by column, so that bounds between them are computed several at a time.
struct BallColumns {
    std::vector<double> x, y, z, radius;

    void resize(std::size_t count);
    void set(std::size_t k, const Ball& ball);
    std::size_t size() const { return radius.size(); }
};

// A body turned into the world, still about its own origin: differences of origins are taken once per pair, so a scene far
// from the world's origin loses no digits. It refers to the parts of the body, which must outlive it.
class PlacedBody {
public:
    explicit PlacedBody(const Body& body);

    void place(const Pose& pose);

    std::size_t size() const { return radii_.size(); }
    int count(std::size_t k) const { return counts_[k]; }  // vertices of an element, 0 for any other part
    bool has_surface() const { return has_surface_; }
    bool has_elements() const { return has_elements_; }
    const double* vertices(std::size_t k) const { return vertices_.data() + 9 * k; }
    const double* radius(std::size_t k) const { return radii_.data() + k; }
    const BallColumns& balls() const { return balls_; }
    const Ball& ball() const { return ball_; }
    const Vec3d& origin() const { return origin_; }
    PlacedPart part(std::size_t k, const Vec3d& body_origin) const {
        if (counts_[k] > 0) return {parts_[k], rotation_, body_origin};
        const Pose& at = poses_[k];
        return {parts_[k], at.rotation, at.translation + body_origin};
    }

private:
    const Part* parts_;
    bool has_surface_, has_elements_ = false;
    Vec3d centre_;  // of the ball, in the frame of the body
    Mat3 rotation_;
    std::vector<Pose> poses_;  // of parts that are no elements; of elements the vertices are turned
    std::vector<int> counts_;
    std::vector<double> vertices_, radii_;
    BallColumns balls_;
    Ball ball_;
    Vec3d origin_;
};

}  // namespace clearance
