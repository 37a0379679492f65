#include "query/body.hpp"

namespace clearance {
namespace {

Ball ball_around_all(const std::vector<Ball>& balls) {
    Vec3d low = balls.front().centre, high = low;
    for (const Ball& ball : balls) {
        const double r = ball.radius;
        low = {min_of(low.x, ball.centre.x - r), min_of(low.y, ball.centre.y - r), min_of(low.z, ball.centre.z - r)};
        high = {max_of(high.x, ball.centre.x + r), max_of(high.y, ball.centre.y + r), max_of(high.z, ball.centre.z + r)};
    }
    Ball all{low + 0.5 * (high - low), 0.0};
    for (const Ball& ball : balls) all.radius = max_of(all.radius, norm(ball.centre - all.centre) + ball.radius);
    return all;
}

}  // namespace

Body::Body(std::vector<Element> elements) : elements_(std::move(elements)) {
    for (const Element& element : elements_) balls_.push_back(ball_around(element));
    ball_ = balls_.size() == 1 ? balls_.front() : ball_around_all(balls_);
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

PlacedBody::PlacedBody(const Body& body) : vertices_(9 * body.elements().size()), ball_(body.ball()) {
    for (const Element& element : body.elements()) {
        counts_.push_back(element.count);
        radii_.push_back(element.radius);
    }
    balls_.resize(body.elements().size());
    place(body, Pose{});
}

void PlacedBody::place(const Body& body, const Pose& pose) {
    double* to = vertices_.data();
    for (const Element& element : body.elements()) {
        for (const Vec3d& vertex : element.vertex) {
            const Vec3d turned = pose.rotation * vertex;
            *to++ = turned.x;
            *to++ = turned.y;
            *to++ = turned.z;
        }
    }
    for (std::size_t k = 0; k < balls_.size(); ++k) {
        const Ball& ball = body.balls()[k];
        balls_.set(k, {pose.rotation * ball.centre, ball.radius});
    }
    ball_.centre = pose.rotation * body.ball().centre;
    origin_ = pose.translation;
}

}  // namespace clearance
