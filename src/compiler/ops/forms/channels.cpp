#include "compiler/ops/forms/channels.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/limits.h"

namespace attune::ops {

Status check_channels(const Channels& channels) {
  const NamedSize sizes[] = {{"ic", channels.ic},
                             {"oc", channels.oc},
                             {"groups", channels.groups},
                             {"block", channels.block}};
  ATTUNE_RETURN_IF_ERROR(check_sizes(sizes));
  const NamedSize divided[] = {{"ic", channels.ic}, {"oc", channels.oc}};
  for (const NamedSize& size : divided) {
    if (size.value % channels.groups == 0) continue;
    return invalid(fmt::format("{}={} is not a multiple of groups={}", size.name, size.value,
                               channels.groups));
  }
  return {};
}

ChannelCut cut_channels(const Channels& channels) {
  const std::int64_t count = channels.ic_per_group();
  std::int64_t lanes = std::min(count, channels.block);
  if (channels.groups == 1) return {ceil_div(count, lanes), lanes};
  while (count % lanes != 0) --lanes;
  return {count / lanes, lanes};
}

std::vector<ir::Expr> channel_index(const Channels& channels) {
  const ir::Expr block = channels.block;
  const ir::Expr ic = ir::var("ic");
  const ir::Expr ib = ir::var("ib");
  if (channels.groups == 1) return {ic, ib};

  // The group is uniform over the lanes of an output block when groups are made of whole blocks;
  // the lanes beyond the last channel belong to the last group.
  const std::int64_t outputs = channels.oc_per_group();
  ir::Expr group = outputs % channels.block == 0
                       ? ir::var("oc") / ir::Expr(outputs / channels.block)
                       : (ir::var("oc") * block + ir::var("ob")) / ir::Expr(outputs);
  if (channels.oc % channels.block != 0) group = ir::min(group, ir::Expr(channels.groups - 1));

  const ChannelCut cut = cut_channels(channels);
  if (channels.ic_per_group() % channels.block == 0) return {group * ir::Expr(cut.blocks) + ic, ib};
  const ir::Expr channel =
      group * ir::Expr(channels.ic_per_group()) + ic * ir::Expr(cut.lanes) + ib;
  return {channel / block, channel % block};
}

}  // namespace attune::ops
