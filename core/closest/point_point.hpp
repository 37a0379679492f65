#pragma once

#include "closest/core.hpp"

namespace clearance {

template <class Real>
CLEARANCE_INLINE Weights<Real> closest(const Core<Real, 1>&, const Core<Real, 1>&) {
    Real zero(0.0);
    return {zero, zero, zero, zero};
}

}  // namespace clearance
