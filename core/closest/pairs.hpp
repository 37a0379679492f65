#pragma once

// The six pairs of cores, the simpler one first.
#include "closest/point_point.hpp"
#include "closest/point_segment.hpp"
#include "closest/point_triangle.hpp"
#include "closest/segment_segment.hpp"
#include "closest/segment_triangle.hpp"
#include "closest/triangle_triangle.hpp"
