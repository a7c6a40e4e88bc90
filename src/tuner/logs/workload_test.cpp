#include "tuner/logs/workload.h"

#include <gtest/gtest.h>

#include "compiler/frontend/op_spec/op_spec.h"
#include "tuner/logs/sample_lines_testing.h"

namespace attune::logs {
namespace {

std::variant<Workload, Unmapped> map(const std::string& task, const std::string& arguments) {
  const LogLine parsed = parse_log_line(line_of("llvm", task, arguments, "[]"));
  const auto* record = std::get_if<LogRecord>(&parsed);
  EXPECT_TRUE(record) << arguments;
  return record ? workload_of(*record) : Unmapped{"not parsed"};
}

// The canonical spec of the operator, or the reason why there is none.
std::string mapped(const std::string& task, const std::string& arguments) {
  const auto workload = map(task, arguments);
  if (const auto* unmapped = std::get_if<Unmapped>(&workload)) return unmapped->reason;
  const auto spec = op_spec::parse_op_spec(std::get<Workload>(workload).spec, target::Target());
  return spec.ok() ? spec->spec : spec.error().message;
}

std::string tensors(const std::string& a, const std::string& b, const std::string& rest,
                    const std::string& type = "float32", const std::string& other = "") {
  return fmt::format(R"([["TENSOR", {}, "{}"], ["TENSOR", {}, "{}"]{}])", a, type, b,
                     other.empty() ? type : other, rest);
}

TEST(Workload, Convolutions) {
  const std::string spec = "conv2d:h=56,w=56,ic=64,oc=128,kh=3,kw=3,stride=2,pad=1";
  const std::string window = R"(, [2, 2], [1, 1, 1, 1], [1, 1], "float32")";
  EXPECT_EQ(mapped("conv2d_nchw.cuda", tensors("[1,64,56,56]", "[128,64,3,3]", window)), spec);
  EXPECT_EQ(mapped("conv2d_nhwc.x86", tensors("[1,56,56,64]", "[3,3,64,128]", window)), spec);
  EXPECT_EQ(mapped("conv2d_hwcn.cuda", tensors("[56,56,64,1]", "[3,3,64,128]", window)), spec);
  EXPECT_EQ(mapped("conv2d_NCHWc.x86",
                   tensors("[1,4,56,56,16]", "[8,4,3,3,16,16]",
                           R"(, [2, 2], [1, 1], [1, 1], "NCHW16c", "NCHW16c", "float32")")),
            spec);
  EXPECT_EQ(mapped("topi_nn_conv2d",
                   tensors("[1,56,56,64]", "[3,3,64,128]", R"(, 2, 1, 1, "NHWC", "float32")")),
            spec);
  EXPECT_EQ(mapped("conv2d_NCHWc_int8.x86",
                   tensors("[1,16,8,8]", "[16,16,1,1]",
                           R"(, [1, 1], [0, 0], [1, 1], "NCHW", "NCHW", "int32")", "int8")),
            "conv2d:h=8,w=8,ic=16,oc=16,kh=1,kw=1,dtype=i8");
}

TEST(Workload, PaddingStridesAndDilation) {
  const auto conv = [](const std::string& window) {
    return mapped("conv2d_nchw.x86", tensors("[1,8,17,17]", "[8,8,1,7]", window));
  };
  EXPECT_EQ(conv(R"(, [1, 1], [0, 3, 0, 3], [1, 1], "float32")"),
            "conv2d:h=17,w=17,ic=8,oc=8,kh=1,kw=7,pad_w=3");
  EXPECT_EQ(conv(R"(, [1, 2], [0, 3], 1, "float32")"),
            "conv2d:h=17,w=17,ic=8,oc=8,kh=1,kw=7,stride_w=2,pad_w=3");
  EXPECT_EQ(conv(R"(, [1, 1], [0, 1, 2, 3], [1, 2], "float32")"),
            "conv2d:h=17,w=17,ic=8,oc=8,kh=1,kw=7,pad_w=1,pad_bottom=2,pad_right=3,dilation_w=2");
  EXPECT_EQ(conv(R"(, 1, "VALID", 1, "float32")"), "conv2d:h=17,w=17,ic=8,oc=8,kh=1,kw=7");
  EXPECT_EQ(conv(R"(, 2, "SAME", 1, "float32")"),
            "conv2d:h=17,w=17,ic=8,oc=8,kh=1,kw=7,stride=2,pad_w=3");
  EXPECT_EQ(mapped("conv2d_nchw.x86",
                   tensors("[1,8,16,16]", "[8,8,3,3]", R"(, [2, 2], "SAME", [1, 1], "float32")")),
            "conv2d:h=16,w=16,ic=8,oc=8,kh=3,kw=3,stride=2,pad_bottom=1,pad_right=1");
  EXPECT_EQ(conv(R"(, [1, 1], "WRAP", [1, 1], "float32")"),
            "arguments of conv2d_nchw.x86 are not understood");
}

TEST(Workload, GroupsAndChannels) {
  const std::string window = R"(, [1, 1], [1, 1], [1, 1], 4, "float32")";
  EXPECT_EQ(mapped("group_conv2d_nchw.cuda", tensors("[1,32,8,8]", "[64,8,3,3]", window)),
            "conv2d:h=8,w=8,ic=32,oc=64,kh=3,kw=3,pad=1,groups=4");
  const std::string plain = R"(, [1, 1], [1, 1], [1, 1], "float32")";
  EXPECT_EQ(mapped("depthwise_conv2d_nchw.cuda", tensors("[1,32,8,8]", "[32,1,3,3]", plain)),
            "depthwise:h=8,w=8,c=32,k=3");
  EXPECT_EQ(mapped("depthwise_conv2d_nhwc.x86", tensors("[1,8,8,32]", "[3,3,32,1]", plain)),
            "depthwise:h=8,w=8,c=32,k=3");
  EXPECT_EQ(mapped("depthwise_conv2d_NCHWc.x86",
                   tensors("[1,2,8,8,16]", "[2,1,5,5,1,16]",
                           R"(, [2, 2], [2, 2], [1, 1], "NCHW16c", "NCHW16c", "float32")")),
            "depthwise:h=8,w=8,c=32,k=5,stride=2");
  EXPECT_EQ(mapped("depthwise_conv2d_nchw.x86", tensors("[1,8,8,8]", "[8,2,3,3]", plain)),
            "conv2d:h=8,w=8,ic=8,oc=16,kh=3,kw=3,pad=1,groups=8");
}

TEST(Workload, TransposedConvolutions) {
  EXPECT_EQ(mapped("conv2d_transpose_nchw.x86",
                   tensors("[1,16,4,4]", "[16,8,3,3]", R"(, [2, 2], [1, 1], "float32", [1, 1])")),
            "conv2d_transpose:h=4,w=4,ic=16,oc=8,kh=3,kw=3,stride=2,pad=1,output_pad=1");
  const auto grouped = [](const std::string& groups) {
    return mapped(
        "conv2d_transpose_nchw.cuda",
        tensors("[1,16,4,4]", "[16,8,3,3]", R"(, [2, 2], [1, 1], "float32", [1, 1], )" + groups));
  };
  EXPECT_EQ(grouped("1"),
            "conv2d_transpose:h=4,w=4,ic=16,oc=8,kh=3,kw=3,stride=2,pad=1,output_pad=1");
  EXPECT_EQ(grouped("4"),
            "conv2d_transpose:h=4,w=4,ic=16,oc=32,kh=3,kw=3,stride=2,pad=1,groups=4,output_pad=1");
  EXPECT_EQ(grouped("3"), "the shapes of its arguments do not fit together");
  for (const char* groups : {"0", "-4", R"("NCHW")", "[4]", "9223372036854775807"}) {
    EXPECT_EQ(grouped(groups), "arguments of conv2d_transpose_nchw.cuda are not understood");
  }
  EXPECT_EQ(
      mapped("group_conv2d_transpose_nchw.x86",
             tensors("[1,16,4,4]", "[16,4,3,3]", R"(, [1, 1], [0, 0], "float32", [0, 0], 2)")),
      "conv2d_transpose:h=4,w=4,ic=16,oc=8,kh=3,kw=3,groups=2");
}

TEST(Workload, WhatContradictsItselfIsRefused) {
  const std::string plain = R"(, [1, 1], [1, 1], [1, 1], "float32")";
  const std::string unfit = "the shapes of its arguments do not fit together";
  // Weights of another number of channels than the image has.
  EXPECT_EQ(mapped("depthwise_conv2d_nchw.x86", tensors("[1,8,8,8]", "[16,1,3,3]", plain)), unfit);
  EXPECT_EQ(mapped("depthwise_conv2d_nhwc.x86", tensors("[1,8,8,8]", "[3,3,16,1]", plain)), unfit);
  EXPECT_EQ(mapped("depthwise_conv2d_NCHWc.x86",
                   tensors("[1,2,8,8,16]", "[4,1,5,5,1,16]",
                           R"(, [1, 1], [2, 2], [1, 1], "NCHW16c", "NCHW16c", "float32")")),
            unfit);
  // Groups that the shapes do not have, and outputs that the groups cannot share.
  EXPECT_EQ(mapped("group_conv2d_nchw.x86", tensors("[1,32,8,8]", "[64,8,3,3]",
                                                    R"(, [1, 1], [1, 1], [1, 1], 2, "float32")")),
            unfit);
  EXPECT_EQ(mapped("conv2d_nchw.x86", tensors("[1,32,8,8]", "[63,8,3,3]", plain)), unfit);
}

TEST(Workload, AbsurdNumbersAreRefused) {
  const std::string most = "9223372036854775807", least = "-9223372036854775808";
  const auto conv = [](const std::string& stride, const std::string& pad,
                       const std::string& dilation) {
    return mapped("conv2d_nchw.x86", tensors("[1,8,17,17]", "[8,8,3,3]",
                                             ", [" + stride + ", 1], " + pad + ", [1, " + dilation +
                                                 R"(], "float32")"));
  };
  const std::string unknown = "arguments of conv2d_nchw.x86 are not understood";
  for (const std::string& number : {most, least, std::string("0"), std::string("-1")}) {
    for (const char* pad : {R"("SAME")", R"("VALID")", "[1, 1]"}) {
      EXPECT_EQ(conv(number, pad, "1"), unknown) << number << pad;
      EXPECT_EQ(conv("1", pad, number), unknown) << number << pad;
    }
  }
  EXPECT_EQ(conv("1", "[" + most + ", 1]", "1"), unknown);
  EXPECT_EQ(conv("1", "[1, 1, 1, -1]", "1"), unknown);
  EXPECT_EQ(conv("1048577", R"("SAME")", "1048576"), unknown);
  EXPECT_EQ(mapped("conv2d_transpose_nchw.x86",
                   tensors("[1,16,4,4]", "[16,8,3,3]",
                           R"(, [2, 2], [1, 1], "float32", [)" + most + ", 0]")),
            "arguments of conv2d_transpose_nchw.x86 are not understood");
  // Products of extents that are each within bounds.
  const std::string huge = "[1048576,1048576,1,1,1048576,1048576,1048576]";
  for (const char* task : {"conv2d_NCHWc.x86", "depthwise_conv2d_NCHWc.x86"}) {
    EXPECT_EQ(mapped(task, tensors("[1,1048576,8,8,1048576]", huge,
                                   R"(, [1, 1], [1, 1], [1, 1], "float32")")),
              "the shapes of its arguments do not fit together");
  }
}

TEST(Workload, Products) {
  EXPECT_EQ(mapped("dense_nopack.x86", tensors("[4,256]", "[1000,256]", R"(, null, "float32")")),
            "dense:m=4,n=1000,k=256");
  EXPECT_EQ(mapped("dense_pack.x86", tensors("[4,256]", "[10,256,16]", R"(, null, "float32")")),
            "dense:m=4,n=160,k=256");
  EXPECT_EQ(
      mapped("dense_vnni.x86", tensors("[4,256]", "[10,64,16,4]", R"(, null, "int32")", "int8")),
      "dense:m=4,n=160,k=256,dtype=i8");
  EXPECT_EQ(mapped("matmul.x86", tensors("[4,8]", "[8,6]", R"(, null, "float32", false, false)")),
            "matmul:m=4,n=6,k=8");
  EXPECT_EQ(mapped("batch_matmul.x86", tensors("[2,4,8]", "[2,6,8]", ", [2, 4, 6]")),
            "batch_matmul:b=2,m=4,n=6,k=8");
  EXPECT_EQ(mapped("batch_matmul.x86",
                   tensors("[2,8,4]", "[2,8,6]", R"(, null, "float32", true, false)")),
            "batch_matmul:b=2,m=4,n=6,k=8");
}

TEST(Workload, WinogradIsTheSameLayer) {
  const auto workload = map("conv2d_nchw_winograd.cuda",
                            tensors("[1,8,8,8]", "[8,8,3,3]", R"(, 1, 1, 1, "float32")"));
  ASSERT_TRUE(std::get_if<Workload>(&workload));
  EXPECT_TRUE(std::get<Workload>(workload).winograd);
}

TEST(Workload, ReasonsForTheRest) {
  const std::string plain = R"(, [1, 1], [1, 1], [1, 1], "float32")";
  EXPECT_EQ(mapped("conv3d_ncdhw.cuda", "[]"), "operator conv3d_ncdhw.cuda is not supported");
  EXPECT_EQ(mapped("layout_transform", tensors("[1,8,8,8]", "[1]", "")),
            "operator layout_transform is not supported");
  EXPECT_EQ(
      mapped("conv2d_packed.vta", tensors("[1,1,8,8,1,16]", "[1,1,3,3,16,16]", plain, "int8")),
      "operator conv2d_packed.vta is not supported");
  EXPECT_EQ(mapped("conv2d_winograd_without_weight_transform.x86", "[]"),
            "operator conv2d_winograd_without_weight_transform.x86 is not supported");
  EXPECT_EQ(
      mapped("conv2d_NCHWc_int8.x86", tensors("[1,8,8,8]", "[8,8,3,3]", plain, "uint8", "int8")),
      "element types uint8 and int8 do not mix");
  EXPECT_EQ(mapped("dense_pack.x86", tensors("[4,4]", "[4,4]", "", "float64")),
            "element type float64 is not supported");
  EXPECT_EQ(mapped("dense_pack.x86", tensors(R"([["any"],4])", "[4,4]", "")),
            "a shape is not fixed");
  EXPECT_EQ(mapped("conv2d_nchw.x86", tensors("[1,8,8]", "[8,8,3,3]", plain)),
            "the shapes of its arguments do not fit together");
  EXPECT_EQ(mapped("batch_matmul.x86", tensors("[2,4,8]", "[1,6,8]", "")),
            "one matrix for all of a batch is not supported");
  EXPECT_EQ(mapped("dense_pack.x86", "[]"), "arguments of dense_pack.x86 are not understood");
}

TEST(Workload, TargetKinds) {
  EXPECT_EQ(target_kind("llvm -mcpu=skylake-avx512"), "llvm");
  EXPECT_EQ(target_kind("cuda"), "cuda");
  EXPECT_EQ(target_kind(R"({"kind": "opencl", "keys": ["mali"]})"), "opencl");
  EXPECT_EQ(target_kind("{broken"), "");
  EXPECT_TRUE(is_cpu("llvm"));
  EXPECT_FALSE(is_cpu("cuda"));
}

}  // namespace
}  // namespace attune::logs
