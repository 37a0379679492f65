#include "convex/drum.hpp"

#include "convex/point_solid.hpp"

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMostLooks = 40;         // to find a normal
constexpr int kMostProofs = 60;        // to show that there is no better one
constexpr int kMostRestarts = 4;       // because there was one
constexpr double kStride = 1.0;        // from one latitude to the next, compared with what is proved so far
constexpr double kLeastStride = 1e-9;  // in radians
constexpr double kLeastEase = 1e-6;
constexpr double kSettled = 1e-14;    // of the size: moving a witness by so much changes nothing
constexpr double kOffBodies = 1e-11;  // of the size: how far a witness may lie off its body
constexpr double kConverged = 1e-11;  // of the size: width of the bracket of bodies that are apart
constexpr double kSteep = 1e12;       // a latitude whose tangent is larger is that of the pole
constexpr double kFarSide = 100.0;    // of the size: sides so flat are left to the general path
constexpr double kFarCentre = 8.0;    // centres that lie so many radii away are too uncertain to place a witness

struct Disc {
    double height, radius;
};

// As a unit vector in the half-plane of the axis: `level` across it, `rise` along it.
struct Latitude {
    double level, rise;
};
Latitude latitude_of(double tangent) {
    const double level = 1.0 / std::sqrt(1.0 + tangent * tangent);
    return {level, tangent * level};
}
double middle(double tangent, double other) {
    const Latitude one = latitude_of(tangent), two = other < kInfinity ? latitude_of(other) : Latitude{0.0, 1.0};
    return (one.rise + two.rise) / (one.level + two.level);
}
double halfway_up(const Latitude& from) {
    return from.rise < 0.0 ? from.level / (1.0 - from.rise) : (1.0 + from.rise) / from.level;
}
// Whether b is farther up than a; both are less than half a turn apart.
bool is_beyond(const Latitude& b, const Latitude& a) { return a.level * b.rise > a.rise * b.level; }

// A drum in the frame of a solid, seen with either end up.
struct Drum {
    Vec3d axis, centre;
    Disc upper, lower;
    double kink;  // tangent of the latitude of its side, along which both discs reach as far

    Drum(const Vec3d& axis_, const Vec3d& centre_, const Disc& upper_, const Disc& lower_)
        : axis(axis_),
          centre(centre_),
          upper(upper_),
          lower(lower_),
          kink((lower_.radius - upper_.radius) / (upper_.height - lower_.height)) {}

    Drum turned_over() const { return {-axis, centre, {-lower.height, lower.radius}, {-upper.height, upper.radius}}; }
    Vec3d point(double height) const { return centre + height * axis; }
    // Where the ball through a rim that touches the side, too, has its centre.
    double end_of_side() const { return upper.height - upper.radius * kink; }
    double start_of_side() const { return lower.height - lower.radius * kink; }

    double reach(const Vec3d& n) const {
        const double rise = dot(n, axis), level = norm(n - rise * axis);
        return dot(n, centre) +
               max_of(upper.height * rise + upper.radius * level, lower.height * rise + lower.radius * level);
    }
};

// Where two bodies touch once they are moved together, or apart, along the normal.
struct Touch {
    Vec3d normal;  // from the drum to the solid
    Vec3d on_drum, on_solid;
    double height = 0.0;   // on the axis: centre of a ball that touches both there,
    int end = 0;           // of the drum: 1 for the upper disc, -1 for the lower, 0 for the side
    bool at_pole = false;  // or else the normal is the axis, and there is no such ball
    double separation = -kInfinity;
};

// What is to be shown of all normals, and one for which it does not hold, if one was met.
struct Proof {
    double depth, rounding;
    std::optional<Vec3d> better = std::nullopt;
};

template <class Solid>
class Encounter {
public:
    Encounter(const Drum& drum, const Solid& solid, double size, int& looks)
        : drum_(drum), over_(drum.turned_over()), solid_(solid), size_(size), looks_(looks) {}

    Touch touch() {
        const bool up = dot(drum_.axis, drum_.centre) <= 0.0;
        const Drum &first = up ? drum_ : over_, &second = up ? over_ : drum_;
        const PointGap at_first = look(first, first.end_of_side());
        if (is_above_side(first, at_first)) return judged(on_disc(first, at_first));
        const PointGap at_second = look(second, second.end_of_side());
        if (is_above_side(second, at_second)) return judged(on_disc(second, at_second));
        return judged(on_side());
    }

    // Another touch, near a normal that is better than the last.
    Touch touch_near(const Vec3d& n) {
        const double rise = dot(n, drum_.axis);
        const double tangent = rise / max_of(norm(n - rise * drum_.axis), 1.0 / kSteep);
        const bool up = tangent >= drum_.kink;
        const Drum& drum = up ? drum_ : over_;
        const double start = max_of(drum.kink, up ? tangent : -tangent);
        const Touch rim = judged(on_rim(drum, look(drum, drum.upper.height - drum.upper.radius * start), start));
        const auto face = on_face(drum, support(solid_, -drum.axis));
        if (face && separation(face->normal) > rim.separation) return judged(*face);
        if (rim.separation >= separation(n)) return rim;
        return judged(on_side());
    }

    double separation(const Vec3d& n) const { return -drum_.reach(n) - dot(-n, support(solid_, -n)); }

    // Whether no normal parts the bodies with less than the depth that is to be proved.
    bool holds(Proof& proof, const Touch& touch) { return climb(drum_, touch, proof) && climb(over_, touch, proof); }

private:
    PointGap look(const Drum& drum, double height) {
        ++looks_;
        return point_gap(solid_, drum.point(height), drum.axis);
    }

    // The normal that is best for a ball at the end of the side leads over the rim.
    static bool is_above_side(const Drum& drum, const PointGap& at) {
        const double rise = -dot(at.normal, drum.axis);
        if (drum.kink == 0.0) return rise > 0.0;
        return rise > drum.kink * norm(at.normal + rise * drum.axis);
    }

    Touch judged(Touch touch) const {
        touch.separation = separation(touch.normal);
        return touch;
    }

    // The solid stands on the disc with a point, or a face, if the axis itself is best.
    std::optional<Touch> on_face(const Drum& drum, const Vec3d& point) const {
        const Vec3d from_disc = point - drum.point(drum.upper.height);
        const double rise = dot(from_disc, drum.axis);
        if (!(norm_sq(from_disc - rise * drum.axis) <= drum.upper.radius * drum.upper.radius)) return std::nullopt;
        Touch touch{drum.axis, point - rise * drum.axis, point};
        touch.at_pole = true, touch.end = end_of(drum);
        return touch;
    }

    // A disc is met on its face if possible, or else on its rim.
    Touch on_disc(const Drum& drum, const PointGap& at) {
        if (const auto found = on_face(drum, support(solid_, -drum.axis))) return *found;
        return on_rim(drum, at, drum.kink);
    }

    Touch on_rim(const Drum& drum, PointGap at, double tangent) {
        const Disc disc = drum.upper;
        if (disc.radius == 0.0) {
            const Vec3d tip = drum.point(disc.height);
            return {-at.normal, tip, tip - at.distance * at.normal, height_in_first(drum, disc.height), end_of(drum)};
        }
        double low = drum.kink, high = kInfinity;
        for (int step = 0;; ++step) {
            const Latitude here = latitude_of(tangent);
            const double rise = -dot(at.normal, drum.axis), level = norm(at.normal + rise * drum.axis);
            // By how much the latitude of the best normal is off the one that was asked, as sine and cosine.
            const double off = rise * here.level - level * here.rise, along = level * here.level + rise * here.rise;
            const double ratio = at.bend * disc.radius / (here.level * here.level * level);
            (off > 0.0 ? low : high) = tangent;
            const bool is_settled = abs_of(off) * disc.radius <= kSettled * size_ * here.level;
            if (is_settled || step == kMostLooks) {
                Touch touch{-at.normal, {}, {}, height_in_first(drum, disc.height - disc.radius * tangent)};
                touch.end = end_of(drum);
                place_on_rim(drum, tangent, at, touch);
                return touch;
            }
            const double turn = off / (along * (1.0 - ratio)), across = here.level - here.rise * turn;
            double next = (here.rise + here.level * turn) / across;
            if (!(ratio < 1.0 && along > 0.0 && across > 0.0 && next > low && next < high)) next = middle(low, high);
            if (next > kSteep) {
                if (const auto found = on_face(drum, drum.point(disc.height) - nearest_to(drum))) return *found;
                next = kSteep;
            }
            if (next == tangent) step = kMostLooks - 1;
            tangent = next;
            at = look(drum, disc.height - disc.radius * tangent);
        }
    }

    // From the point of the solid that is nearest to the middle of the disc to that middle.
    Vec3d nearest_to(const Drum& drum) const {
        const PointGap at = point_gap(solid_, drum.point(drum.upper.height), drum.axis);
        return at.distance * at.normal;
    }

    void place_on_rim(const Drum& drum, double tangent, const PointGap& at, Touch& touch) const {
        const Disc disc = drum.upper;
        const Vec3d across = touch.normal - dot(touch.normal, drum.axis) * drum.axis;
        const Vec3d out = (disc.radius * inverse_or_zero(norm(across))) * across;
        touch.on_drum = drum.point(disc.height) + (out - dot(out, drum.axis) * drum.axis);  // steep normals blur the plane
        touch.on_solid = drum.point(disc.height - disc.radius * tangent) - at.distance * at.normal;
        if (tangent <= kFarCentre) return;
        const PointGap foot = point_gap(solid_, touch.on_drum, drum.axis);
        if (foot.distance >= 0.0 || dot(foot.normal, at.normal) == 1.0)
            touch.on_solid = touch.on_drum - foot.distance * foot.normal;
    }

    // The distance of the solid is convex along the axis, and its slope is sought that belongs to the side.
    Touch on_side() {
        const Drum& drum = drum_;
        const Latitude side = latitude_of(drum.kink);
        double low = -over_.end_of_side(), high = drum.end_of_side();
        double height = max_of(low, min_of(high, -dot(drum.axis, drum.centre)));
        double low_value = 0.0, low_slope = 0.0, high_value = 0.0, high_slope = 0.0;
        bool low_known = false, high_known = false;
        for (int step = 0;; ++step) {
            const PointGap at = look(drum, height);
            const double slope = dot(at.normal, drum.axis) + side.rise;  // of the distance, less that of the radius
            const double value = at.distance + side.rise * height;
            (slope < 0.0 ? low : high) = height;
            if (slope < 0.0)
                low_value = value, low_slope = slope, low_known = true;
            else
                high_value = value, high_slope = slope, high_known = true;
            if (abs_of(slope) <= 0.1 * kSettled || !(high - low > 0.1 * kSettled * size_) || step == kMostLooks) {
                Touch touch{-at.normal, {}, {}, height};
                const double radius = drum.upper.height * side.rise + drum.upper.radius * side.level - height * side.rise;
                const Vec3d across = touch.normal - dot(touch.normal, drum.axis) * drum.axis;
                touch.on_drum =
                    drum.point(height + radius * side.rise) + (radius * side.level * inverse_or_zero(norm(across))) * across;
                touch.on_solid = drum.point(height) - at.distance * at.normal;
                return touch;
            }
            double next = at.bend > 0.0 ? height - slope / at.bend : kInfinity;
            if (!(next >= low && next <= high) || next == height) {
                // Where the tangents at both ends meet, if both are known.
                next = 0.5 * (low + high);
                if (low_known && high_known) {
                    const double meet =
                        ((low_value - low_slope * low) - (high_value - high_slope * high)) / (high_slope - low_slope);
                    if (meet > low && meet < high) next = meet;
                }
            }
            height = next;
        }
    }

    int end_of(const Drum& drum) const { return &drum == &drum_ ? 1 : -1; }
    double height_in_first(const Drum& drum, double height) const { return &drum == &drum_ ? height : -height; }

    // Prove normals of all latitudes from that of a touch up to the pole.
    bool climb(const Drum& drum, const Touch& touch, Proof& proof) {
        const double rise = dot(touch.normal, drum.axis);
        const Latitude from{norm(touch.normal - rise * drum.axis), rise};
        if (touch.at_pole && rise > 0.0) return true;
        Latitude proved = from;
        if (point_proves(drum, touch.on_solid, proof.depth + proof.rounding + 16.0 * kEpsilon * abs_of(touch.height),
                         proved))
            return true;
        // Balls between the discs cover more than those beyond, if they do not move back from where the touch is.
        const int end = &drum == &drum_ ? touch.end : -touch.end;
        const double height = &drum == &drum_ ? touch.height : -touch.height;
        const double highest = end > 0 ? kInfinity : end < 0 ? drum.start_of_side() : height;
        double ease = kStride;
        for (int step = 0; step < kMostProofs; ++step) {
            // How far to go on, as the tangent of an angle: in proportion to how far it has come.
            const double ahead = from.level * proved.level + from.rise * proved.rise;
            const double come = from.level * proved.rise - from.rise * proved.level;
            const double stride = ahead > 0.0 ? ease * max_of(come, kLeastStride) / ahead : kInfinity;
            const bool is_below = proved.rise < drum.kink * proved.level;
            const Disc disc = is_below ? drum.lower : drum.upper;
            double tangent = halfway_up(proved);
            if (is_below) tangent = min_of(drum.kink, tangent);
            const double across = proved.level - proved.rise * stride;
            if (across > 0.0) tangent = min_of(tangent, (proved.rise + proved.level * stride) / across);
            const double on_rim = disc.height - disc.radius * tangent, at = is_below ? on_rim : min_of(highest, on_rim);
            const PointGap seen = look(drum, at);
            const Latitude before = proved;
            if (look_proves(drum, at, seen, proof, proved)) return true;
            if (is_beyond(proved, before)) {
                ease = min_of(kStride, 2.0 * ease);
                continue;
            }
            if (separation(-seen.normal) > touch.separation) {
                proof.better = -seen.normal;
                return false;
            }
            ease *= 0.3;
            if (ease < kLeastEase) return false;
        }
        return false;
    }

    // What a look from the axis proves. First, a ball with this radius would be just as deep in the solid as is to be
    // proved: normals along which a disc reaches as far as the ball part the bodies no sooner. Second, the same holds for
    // the point of the solid that was seen. If either proves all latitudes from `proved` up to the pole, true.
    bool look_proves(const Drum& drum, double height, const PointGap& seen, const Proof& proof, Latitude& proved) const {
        const double rounding = proof.rounding + 16.0 * kEpsilon * abs_of(height);
        const double radius = seen.distance + proof.depth + rounding;
        Latitude by_ball = proved;
        if (extends(drum.upper.radius, drum.upper.height - height, radius, by_ball) ||
            extends(drum.lower.radius, drum.lower.height - height, radius, by_ball))
            return true;
        const Vec3d foot = drum.point(height) - seen.distance * seen.normal;
        if (point_proves(drum, foot, proof.depth + rounding, proved)) return true;
        if (is_beyond(by_ball, proved)) proved = by_ball;
        return false;
    }

    // A disc reaches farther than a point of the solid by at least what it does in the half-plane of that point.
    bool point_proves(const Drum& drum, const Vec3d& point, double depth, Latitude& proved) const {
        const Vec3d seen = point - drum.centre;
        const double up = dot(seen, drum.axis), out = norm(seen - up * drum.axis);
        return extends(drum.upper.radius - out, drum.upper.height - up, depth, proved) ||
               extends(drum.lower.radius - out, drum.lower.height - up, depth, proved);
    }

    // Latitudes along which the vector (out, up) reaches as far as `reach`, if `proved` is among them: the last of these.
    // True if they go on up to the pole.
    static bool extends(double out, double up, double reach, Latitude& proved) {
        if (!(proved.level * out + proved.rise * up >= reach)) return false;
        const double length_sq = out * out + up * up;
        if (reach <= 0.0 && reach * reach >= length_sq) return true;
        if (out < 0.0 && reach < 0.0) return false;  // not all in one piece
        if (out < 0.0 && up > 0.0) return true;
        const double aside = std::sqrt(max_of(0.0, length_sq - reach * reach));
        const Latitude last{(out * reach - up * aside) / length_sq, (up * reach + out * aside) / length_sq};
        if (last.level <= 0.0 && (last.rise > 0.0 || reach < 0.0)) return true;
        if (is_beyond(last, proved)) proved = last;
        return false;
    }

    Drum drum_, over_;
    const Solid& solid_;
    double size_;
    int& looks_;
};

struct Answer {
    Touch touch;
    double lower, upper;
};

// What is proved of a drum and a solid; nothing where this is not enough.
template <class Solid>
std::optional<Answer> answer(const Drum& drum, const Solid& solid, const CorePair& pair, const CoreQuestion& question,
                             int& iterations) {
    Encounter<Solid> encounter(drum, solid, pair.size, iterations);
    Touch touch = encounter.touch();
    const double rounding = 16.0 * kEpsilon * pair.reach;
    for (int restart = 0; restart < kMostRestarts; ++restart) {
        const Vec3d apart = touch.on_solid - touch.on_drum;
        // Witnesses that were seen from far away are that much less certain.
        const double lower = touch.separation, points = norm(apart) + 4.0 * kEpsilon * abs_of(touch.height);
        if (touch.end == 0 && abs_of(touch.height) > kFarSide * pair.size) return std::nullopt;
        if (lower > question.lower_above || points <= question.upper_at_most)
            return Answer{touch, lower, max_of(points, lower)};
        if (!(largest(apart - lower * touch.normal) <= kOffBodies * pair.size)) return std::nullopt;
        if (lower > 0.0) {
            if (points - lower > max_of(question.width_apart, kConverged * pair.size)) return std::nullopt;
            return Answer{touch, lower, max_of(lower, points)};
        }
        const double width = max_of(question.upper_at_most - lower,
                                    min_of(question.width_inside, max_of(-0.25 * lower, kConverged * pair.size)));
        Proof proof{-lower - width, rounding};
        if (encounter.holds(proof, touch)) return Answer{touch, lower, min_of(points, lower + width)};
        if (!proof.better) return std::nullopt;
        const Touch other = encounter.touch_near(*proof.better);
        if (!(other.separation > lower)) return std::nullopt;
        touch = other;
    }
    return std::nullopt;
}

std::optional<Drum> drum_of(const ConvexCore& core, const Vec3d& axis, const Vec3d& centre) {
    if (const Cylinder* it = std::get_if<Cylinder>(&core))
        return Drum{axis, centre, {it->half_length, it->radius}, {-it->half_length, it->radius}};
    if (const Cone* it = std::get_if<Cone>(&core))
        return Drum{axis, centre, {it->half_length, 0.0}, {-it->half_length, it->radius}};
    return std::nullopt;
}

std::optional<Answer> answer(const std::optional<Drum>& drum, const ConvexCore& solid, const CorePair& pair,
                             const CoreQuestion& question, int& iterations) {
    if (!drum) return std::nullopt;
    if (const Cylinder* it = std::get_if<Cylinder>(&solid)) return answer(*drum, *it, pair, question, iterations);
    if (const Box* it = std::get_if<Box>(&solid)) return answer(*drum, *it, pair, question, iterations);
    if (const Cone* it = std::get_if<Cone>(&solid)) return answer(*drum, *it, pair, question, iterations);
    return std::nullopt;
}

}  // namespace

std::optional<CoreGap<double>> drum_gap(const CorePair& pair, const CoreQuestion& question, int& iterations) {
    const Mat3& turn = pair.a_from_b;
    // The drum is a, seen from b, or else the drum is b, seen from a.
    const auto drum_a = drum_of(pair.a, turn.row[2], -transposed_times(turn, pair.b_origin));
    if (const auto found = answer(drum_a, pair.b, pair, question, iterations)) {
        const Vec3d on_a = turn * found->touch.on_drum + pair.b_origin;
        const Vec3d normal = turn * found->touch.normal;
        return CoreGap<double>{on_a, unit_or(normal, normal), found->lower, found->lower, found->upper};
    }
    const auto drum_b = drum_of(pair.b, {turn.row[0].z, turn.row[1].z, turn.row[2].z}, pair.b_origin);
    if (const auto found = answer(drum_b, pair.a, pair, question, iterations))
        return CoreGap<double>{found->touch.on_solid, unit_or(found->touch.normal, -found->touch.normal), found->lower,
                               found->lower, found->upper};
    return std::nullopt;
}

}  // namespace clearance
