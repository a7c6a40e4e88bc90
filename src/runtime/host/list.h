// The functions behind the names in operators.cpp, each in a file of its own or of its family.
#pragma once

#include "runtime/host/operators.h"

namespace attune::runtime::host {

Status arg_extreme(const Call& call);
Status binary(const Call& call);
Status bit_shift(const Call& call);
Status cast(const Call& call);
Status clip(const Call& call);
Status compress(const Call& call);
Status concat(const Call& call);
Status constant_of_shape(const Call& call);
Status expand(const Call& call);
Status flatten(const Call& call);
Status gather(const Call& call);
Status gather_elements(const Call& call);
Status gather_nd(const Call& call);
Status gelu(const Call& call);
Status identity(const Call& call);
Status mat_mul(const Call& call);
Status mod(const Call& call);
Status non_max_suppression(const Call& call);
Status non_zero(const Call& call);
Status pad(const Call& call);
Status range(const Call& call);
Status reduce(const Call& call);
Status require(const Call& call);
Status reshape(const Call& call);
Status scatter_elements(const Call& call);
Status scatter_nd(const Call& call);
Status shape_of(const Call& call);
Status size_of(const Call& call);
Status slice(const Call& call);
Status softmax(const Call& call);
Status split(const Call& call);
Status squeeze(const Call& call);
Status tile(const Call& call);
Status top_k(const Call& call);
Status transpose(const Call& call);
Status unary(const Call& call);
Status unique(const Call& call);
Status unsqueeze(const Call& call);
Status where(const Call& call);

}  // namespace attune::runtime::host
