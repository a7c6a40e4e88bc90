// Match{f, g, …}: the overload set of several lambdas, for std::visit over closed variants.
#pragma once

namespace attune {

template <typename... Handlers>
struct Match : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Match(Handlers...) -> Match<Handlers...>;

}  // namespace attune
