#include <stdexcept>

#include "dynamics/world.hpp"

namespace clearance {
namespace {

// Numbers are put into a row one after the other, and taken out in the same order.
class Row {
public:
    explicit Row(std::vector<double>& numbers) : numbers_(numbers) {}
    void operator()(double number) { numbers_.push_back(number); }
    void operator()(const Vec3d& v) { (*this)(v.x), (*this)(v.y), (*this)(v.z); }
    void operator()(const Turn& q) { (*this)(q.w), (*this)(q.x), (*this)(q.y), (*this)(q.z); }
    void operator()(const Pose& pose) {
        for (const Vec3d& row : pose.rotation.row) (*this)(row);
        (*this)(pose.translation);
    }

private:
    std::vector<double>& numbers_;
};

class Reader {
public:
    explicit Reader(std::span<const double> numbers) : numbers_(numbers) {}
    void operator()(double& number) {
        if (next_ == numbers_.size()) throw std::invalid_argument("the state of the world is too short.");
        number = numbers_[next_++];
    }
    void operator()(Vec3d& v) { (*this)(v.x), (*this)(v.y), (*this)(v.z); }
    void operator()(Turn& q) { (*this)(q.w), (*this)(q.x), (*this)(q.y), (*this)(q.z); }
    void operator()(Pose& pose) {
        for (Vec3d& row : pose.rotation.row) (*this)(row);
        (*this)(pose.translation);
    }
    std::int64_t integer(double lowest, double highest) {
        double number;
        (*this)(number);
        if (!(number >= lowest && number <= highest && number == std::floor(number)))
            throw std::invalid_argument("the state of the world has a number that counts nothing.");
        return static_cast<std::int64_t>(number);
    }
    bool is_done() const { return next_ == numbers_.size(); }

private:
    std::span<const double> numbers_;
    std::size_t next_ = 0;
};

}  // namespace

std::vector<double> World::state() const {
    std::vector<double> numbers;
    Row put(numbers);
    put(static_cast<double>(steps_));
    put(static_cast<double>(size()));
    put(static_cast<double>(bearings_.size()));
    put(static_cast<double>(remembered_.size()));
    put(static_cast<double>(guided_.size()));
    for (std::size_t k = 1; k < rigid_.size(); ++k) {
        const Rigid& rigid = rigid_[k];
        put(rigid.centre), put(rigid.turn), put(rigid.velocity), put(rigid.spin), put(rigid.force), put(rigid.torque);
    }
    for (const Bearing& bearing : bearings_) {
        const Bearing::Memory memory = bearing.memory();
        put(memory.value), put(memory.linear), put(memory.angular), put(memory.motor), put(memory.limit);
        put(memory.motor_turn);
    }
    for (std::size_t k = 0; k < remembered_.size(); ++k) {
        const ContactMemory& one = remembered_[k];
        const auto& [a, b] = remembered_of_[k];
        for (const std::int32_t number : {a, b, one.part_a, one.part_b}) put(static_cast<double>(number));
        put(one.place), put(one.normal), put(one.friction), put(one.rolling);
    }
    for (const auto& [body, pose] : guided_) put(static_cast<double>(body)), put(pose);
    return numbers;
}

void World::set_state(std::span<const double> state) {
    constexpr double kMost = 9e15;
    Reader take(state);
    const std::int64_t steps = take.integer(0, kMost);
    if (take.integer(0, kMost) != size() || take.integer(0, kMost) != bearings())
        throw std::invalid_argument("the state is that of a world with other bodies or joints.");
    const std::int64_t remembered = take.integer(0, kMost), guided_count = take.integer(0, kMost);
    std::vector<Rigid> rigid = rigid_;
    for (std::size_t k = 1; k < rigid.size(); ++k) {
        Turn turn;
        take(rigid[k].centre), take(turn), take(rigid[k].velocity), take(rigid[k].spin);
        take(rigid[k].force), take(rigid[k].torque);
        rigid[k].set_turn(turn);
    }
    std::vector<Bearing::Memory> memories(bearings_.size());
    for (Bearing::Memory& memory : memories) {
        take(memory.value), take(memory.linear), take(memory.angular), take(memory.motor), take(memory.limit);
        take(memory.motor_turn);
    }
    std::vector<ContactMemory> contacts;
    std::vector<BodyPair> contacts_of;
    for (std::int64_t k = 0; k < remembered; ++k) {
        ContactMemory& one = contacts.emplace_back();
        auto& [a, b] = contacts_of.emplace_back();
        for (std::int32_t* number : {&a, &b, &one.part_a, &one.part_b})
            *number = static_cast<std::int32_t>(take.integer(0, 2e9));
        take(one.place), take(one.normal), take(one.friction), take(one.rolling);
    }
    std::vector<std::pair<std::int32_t, Pose>> guided;
    for (std::int64_t k = 0; k < guided_count; ++k) {
        auto& [body, pose] = guided.emplace_back();
        body = static_cast<std::int32_t>(take.integer(0, size() - 1)), take(pose);
    }
    if (!take.is_done()) throw std::invalid_argument("the state of the world is too long.");
    if (!std::is_sorted(contacts_of.begin(), contacts_of.end()))
        throw std::invalid_argument("the state of the world has contacts out of order.");
    guided_ = std::move(guided);
    steps_ = steps, rigid_ = std::move(rigid), remembered_ = std::move(contacts);
    remembered_of_ = std::move(contacts_of);
    for (std::size_t k = 0; k < bearings_.size(); ++k) bearings_[k].remember(memories[k]);
    contacts_.clear();
    is_changed_ = true;
}

std::vector<double> World::anchors() const {
    std::vector<double> numbers;
    Row put(numbers);
    for (const Bearing& bearing : bearings_) {
        const Bearing::Anchors& at = bearing.anchors;
        for (const Vec3d& v : {at.anchor_a, at.anchor_b, at.axis_a, at.axis_b, at.across_a, at.across_b}) put(v);
        put(at.turn);
    }
    return numbers;
}

void World::set_anchors(std::span<const double> anchors) {
    Reader take(anchors);
    std::vector<Bearing::Anchors> all(bearings_.size());
    for (Bearing::Anchors& at : all) {
        for (Vec3d* v : {&at.anchor_a, &at.anchor_b, &at.axis_a, &at.axis_b, &at.across_a, &at.across_b}) take(*v);
        take(at.turn);
    }
    if (!take.is_done()) throw std::invalid_argument("there are more anchors than joints.");
    for (std::size_t k = 0; k < bearings_.size(); ++k) bearings_[k].anchors = all[k];
}

}  // namespace clearance
