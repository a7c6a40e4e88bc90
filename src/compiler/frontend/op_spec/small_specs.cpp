#include "compiler/frontend/op_spec/small_specs.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "compiler/ops/forms/sample_spec.h"

namespace attune::op_spec {
namespace {

constexpr const char* kSpecs[] = {
    "matmul:m=13,n=37,k=29",
    "matmul:m=1,n=5,k=3",
    "matmul:m=16,n=64,k=32",
    "dense:m=7,n=40,k=33",
    "batch_matmul:b=3,m=5,n=18,k=7",
    "attention:heads=4,m=21,n=13,d=5,kv=2",
    "attention:heads=1,m=9,n=1031,d=3,e=5",
    "conv2d:h=9,w=7,ic=12,oc=20,kh=3,kw=3,pad=1",
    "conv2d:h=12,w=13,ic=3,oc=16,kh=5,kw=5,stride=2,pad=2",
    "conv2d:h=10,w=8,ic=16,oc=32,kh=1,kw=1,stride=2",
    "conv2d:h=20,w=20,ic=2,oc=9,kh=8,kw=8,stride=4",
    "conv2d:h=10,w=9,ic=9,oc=12,kh=4,kw=4,stride=2,pad=1",
    "conv2d:h=9,w=9,ic=8,oc=12,kh=3,kw=3,pad=2,dilation=2",
    "conv2d:h=8,w=7,ic=32,oc=32,kh=3,kw=3,pad=1,groups=2",
    "conv2d:h=8,w=7,ic=32,oc=32,kh=3,kw=3,pad=1,groups=8",
    "conv2d:h=8,w=7,ic=32,oc=32,kh=3,kw=3,pad=1,groups=32",
    "conv2d:n=2,h=8,w=8,ic=16,oc=16,kh=3,kw=3,pad=1",
    "conv2d:h=14,w=14,ic=16,oc=16,kh=3,kw=3,pad=1,algo=winograd4",
    "depthwise:h=11,w=9,c=20,k=3",
    "depthwise:h=12,w=13,c=16,k=5,stride=2",
    "conv2d_transpose:h=5,w=6,ic=8,oc=12,kh=3,kw=3,stride=2,pad=1",
    "conv2d_transpose:h=4,w=5,ic=9,oc=20,kh=4,kw=4,stride=2,pad=1",
    "conv2d_transpose:n=2,h=5,w=4,ic=8,oc=3,kh=4,kw=4,stride=2,pad=1",
    "conv2d_transpose:h=5,w=6,ic=8,oc=12,kh=3,kw=3,pad=1",
    "maxpool:h=9,w=11,c=20,k=3,stride=2,pad=1",
    "avgpool:h=8,w=10,c=16,k=2,stride=2",
    "softmax:m=5,n=37",
    "layernorm:m=5,n=37",
    "reduce:m=6,n=41,op=sum",
    "reduce:m=6,n=41,op=max",
    "elementwise:m=7,n=43,op=relu",
    "transpose:d0=5,d1=7,d2=11,perm=021",
};

}  // namespace

std::vector<std::string> small_specs() {
  std::vector<std::string> specs(std::begin(kSpecs), std::end(kSpecs));
  for (const ops::Family& family : ops::families()) {
    const bool listed = std::any_of(std::begin(kSpecs), std::end(kSpecs), [&](const char* spec) {
      return std::string_view(spec).starts_with(family.name + ":");
    });
    if (!listed) specs.push_back(ops::sample_spec(family));
  }
  return specs;
}

}  // namespace attune::op_spec
