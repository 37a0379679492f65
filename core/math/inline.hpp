#pragma once

// Kernels are compiled once per instruction set. A function of theirs that stayed out of line would be a weak symbol, and
// the linker could hand its AVX2 copy to code that must run without AVX2. So everything they call is really inlined.
#if defined(__GNUC__)
#define CLEARANCE_INLINE inline __attribute__((always_inline))
#define CLEARANCE_UNROLL _Pragma("GCC unroll 4")  // loops over vertices and edges, whose index must become a constant
#else
#define CLEARANCE_INLINE inline
#define CLEARANCE_UNROLL
#endif
