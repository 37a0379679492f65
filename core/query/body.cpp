#include "query/body.hpp"

namespace clearance {
namespace {

Ball ball_around_all(const std::vector<Part>& parts) {
    Vec3d low = parts.front().ball.centre, high = low;
    for (const Part& part : parts) {
        const auto& [c, r] = part.ball;
        if (r == std::numeric_limits<double>::infinity()) return part.ball;
        low = {min_of(low.x, c.x - r), min_of(low.y, c.y - r), min_of(low.z, c.z - r)};
        high = {max_of(high.x, c.x + r), max_of(high.y, c.y + r), max_of(high.z, c.z + r)};
    }
    Ball all{low + 0.5 * (high - low), 0.0};
    for (const Part& part : parts) all.radius = max_of(all.radius, norm(part.ball.centre - all.centre) + part.ball.radius);
    return all;
}

}  // namespace

Body::Body(std::vector<Part> parts) : parts_(std::move(parts)) {
    ball_ = parts_.size() == 1 ? parts_.front().ball : ball_around_all(parts_);
    for (const Part& part : parts_) has_surface_ = has_surface_ || surface_of(part) != nullptr;
}

void BallColumns::resize(std::size_t count) {
    for (auto* column : {&x, &y, &z, &radius}) column->resize(count);
}

void BallColumns::set(std::size_t k, const Ball& ball) {
    x[k] = ball.centre.x;
    y[k] = ball.centre.y;
    z[k] = ball.centre.z;
    radius[k] = ball.radius;
}

PlacedBody::PlacedBody(const Body& body)
    : parts_(body.parts().data()),
      has_surface_(body.has_surface()),
      centre_(body.ball().centre),
      poses_(body.parts().size()),
      vertices_(9 * body.parts().size()),
      ball_(body.ball()) {
    for (const Part& part : body.parts()) {
        const Element* element = element_of(part);
        counts_.push_back(element == nullptr ? 0 : element->count);
        has_elements_ = has_elements_ || element != nullptr;
        radii_.push_back(element == nullptr ? 0.0 : element->radius);
    }
    balls_.resize(body.parts().size());
    place(Pose{});
}

void PlacedBody::place(const Pose& pose) {
    for (std::size_t k = 0; k < size(); ++k) {
        const Part& part = parts_[k];
        balls_.set(k, {pose.rotation * part.ball.centre, part.ball.radius});
        if (counts_[k] == 0) {
            poses_[k] = {pose.rotation * part.pose.rotation, pose.rotation * part.pose.translation};
            continue;
        }
        double* to = vertices_.data() + 9 * k;
        if (counts_[k] == 1) {  // what is beyond the count repeats it
            for (int copy = 0; copy < 3; ++copy) *to++ = balls_.x[k], *to++ = balls_.y[k], *to++ = balls_.z[k];
            continue;
        }
        for (const Vec3d& vertex : element_of(part)->vertex) {
            const Vec3d turned = pose.rotation * vertex;
            *to++ = turned.x;
            *to++ = turned.y;
            *to++ = turned.z;
        }
    }
    rotation_ = pose.rotation;
    ball_.centre = pose.rotation * centre_;
    origin_ = pose.translation;
}

}  // namespace clearance
