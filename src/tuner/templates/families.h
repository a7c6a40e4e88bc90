// One function per template, each in the file of its name.
#pragma once

#include "tuner/space/template.h"

namespace attune::templates {

space::Template gemm();
space::Template strassen();
space::Template conv2d();
space::Template winograd();
space::Template conv2d_gemm();
space::Template conv2d_transpose();
space::Template window();
space::Template rows();
space::Template elementwise();

}  // namespace attune::templates
