# Stands in for CPM, which downloads from GitHub. Eigen and pdqsort are Debian's, nanobind is PyPI's.
find_package(Python 3.8 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(nanobind CONFIG REQUIRED)
set(nigh_SOURCE_DIR ${CMAKE_CURRENT_LIST_DIR})
find_path(pdqsort_SOURCE_DIR pdqsort.h REQUIRED)
function(CPMAddPackage)
endfunction()
