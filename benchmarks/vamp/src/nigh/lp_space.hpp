#include <nigh/nigh_forward.hpp>
