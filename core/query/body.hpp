#pragma once

#include <vector>

#include "closest/element.hpp"
#include "math/pose.hpp"

namespace clearance {

// A rigid union of swept elements, with a ball around each of them and one around all.
class Body {
public:
    explicit Body(std::vector<Element> elements);

    const std::vector<Element>& elements() const { return elements_; }
    const std::vector<Ball>& balls() const { return balls_; }
    const Ball& ball() const { return ball_; }

private:
    std::vector<Element> elements_;
    std::vector<Ball> balls_;
    Ball ball_;
};

// Balls column by column, so that bounds between them are computed several at a time.
struct BallColumns {
    std::vector<double> x, y, z, radius;

    void resize(std::size_t count);
    void set(std::size_t k, const Ball& ball);
    std::size_t size() const { return radius.size(); }
};

// A body turned into the world, still about its own origin: differences of origins are taken once per pair, so a scene far
// from the world's origin loses no digits.
class PlacedBody {
public:
    explicit PlacedBody(const Body& body);

    void place(const Body& body, const Pose& pose);

    std::size_t size() const { return radii_.size(); }
    int count(std::size_t k) const { return counts_[k]; }  // vertices of element k
    const double* vertices(std::size_t k) const { return vertices_.data() + 9 * k; }
    const double* radius(std::size_t k) const { return radii_.data() + k; }
    const BallColumns& balls() const { return balls_; }
    const Ball& ball() const { return ball_; }
    const Vec3d& origin() const { return origin_; }

private:
    std::vector<int> counts_;
    std::vector<double> vertices_, radii_;
    BallColumns balls_;
    Ball ball_;
    Vec3d origin_;
};

}  // namespace clearance
