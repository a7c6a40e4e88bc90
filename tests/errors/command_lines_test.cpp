// Wrong command lines and bad files: each ends with the exact sentence, a hint where there is a
// next step, and the right exit status: 2 when what was typed makes no sense, 1 when the run
// failed.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/bad_commands.h"

namespace attune {
namespace {

class CommandLines : public test::BadCommands {
 protected:
  CommandLines() {
    directory_.write("misspelt.trace", "splitt anchor i 4\n");
    directory_.write("not_a_number.trace", "split anchor i x\n");
    directory_.write("unfit.trace", "split anchor i 2\nsplit anchor q 4\n");
    directory_.write("zero.trace", "split anchor i 0\n");
    directory_.write("algorithm.trace", "algorithm winograd9\n");
    directory_.write("damaged.db", std::string(5000, 'x'));
    directory_.write("text.npy", "hello");
    directory_.write("plan.json",
                     R"({"pools": {"host": 1}, "jobs": [{"stages": [{"seconds": 1}]}]})");
    directory_.write("misspelt.json",
                     R"({"pols": {"host": 1}, "jobs": [{"stages": [{"seconds": 1}]}]})");
    directory_.write("damaged.jsonl", "{\"schema\": 1,\n");
  }
};

TEST_F(CommandLines, CommandsAndOptions) {
  expect_all({
      {"", 2, "no command given", "'attune --help' lists the commands"},
      {"tnue", 2, "unknown command 'tnue'", "did you mean 'tune'?"},
      {"quantize", 2, "unknown command 'quantize'", "'attune --help' lists the commands"},
      {"--verison", 2, "unknown option '--verison'", "'attune --help' lists the commands"},
      {"records", 2, "no command given", "'attune records --help' lists the commands"},
      {"records lst", 2, "unknown command 'records lst'", "did you mean 'records list'?"},
      {"tune", 2,
       "'tune' needs a model: a file, a name such as resnet18, or matmul:m=1024,n=1024,k=1024",
       "for example: attune tune resnet18 --seconds 120"},
      {"tune softmax:m=4,n=4 --trails 5", 2, "'tune' has no option '--trails'",
       "did you mean '--trials'?"},
      {"bench softmax:m=4,n=4 --zzzzzzzzz", 2, "'bench' has no option '--zzzzzzzzz'",
       "'attune bench --help' lists its options"},
      {"bench softmax:m=4,n=4 -x", 2, "'bench' has no option '-x'",
       "'attune bench --help' lists its options"},
      {"tune softmax:m=4,n=4 --trials", 2, "option --trials needs a value",
       "'attune tune --help' lists its options"},
      {"bench softmax:m=4,n=4 --json=maybe", 2, "option --json takes no value",
       "'attune bench --help' lists its options"},
      {"tune softmax:m=4,n=4 again", 2, "unexpected argument 'again' after 'tune'",
       "'attune tune --help' lists its options"},
      {"doctor now", 2, "unexpected argument 'now' after 'doctor'",
       "'attune doctor --help' lists its options"},
      {"check", 2, "'check' needs a model, a folder of ONNX test cases, or --all",
       "for example: attune check matmul:m=64,n=64,k=64"},
      {"check --all softmax:m=4,n=4", 2, "'check' takes a model or --all, not both",
       "for example: attune check matmul:m=64,n=64,k=64"},
  });
}

TEST_F(CommandLines, Searches) {
  const std::string tune = "tune softmax:m=4,n=4 ";
  expect_all({
      {tune + "--explorer oracle", 2, "unknown explorer 'oracle'", "explorers are {explorers}"},
      {tune + "--features taste", 2, "unknown features 'taste'",
       "features are knob, context, relation"},
      {tune + "--acquisition luck", 2, "unknown acquisition 'luck'",
       "acquisitions are mean, optimism, improvement"},
      {tune + "--batch 0", 2, "--batch is 0, must be between 1 and 10000"},
      {tune + "--epsilon 2", 2, "--epsilon is 2, must be between 0 and 1"},
      {tune + "--chains none", 2, "--chains is 'none', which is not a whole number"},
      {tune + "--pool 0.5", 2, "--pool is 0.5, must be between 1 and 1000"},
      {tune + "--diversity -1", 2, "--diversity is -1, must be between 0 and 1000"},
      {tune + "--ensemble 65", 2, "--ensemble is 65, must be between 1 and 64"},
      {tune + "--timeout 0", 2, "--timeout is 0, must be between 0.001 and 3600"},
      {tune + "--build-timeout 0", 2, "--build-timeout is 0, must be between 0.001 and 3600"},
      {tune + "--analytic always", 2, "unknown use 'always' of the analytic prediction",
       "uses are none, feature, prior, both"},
      {tune + "--repeats 0", 2, "--repeats is 0, must be between 1 and 10000"},
  });
}

TEST_F(CommandLines, OptionsWithoutEffect) {
  const std::string tune = "tune softmax:m=4,n=4 ";
  expect_all({
      {tune + "--ensemble 5", 2, "--ensemble has no effect on the model 'gp'",
       "leave it out, or choose --model {models with ensemble}"},
      {tune + "--features knob", 2, "--features has no effect on the model 'gp'",
       "leave it out, or choose --model {models with features}"},
      {tune + "--features knob --model treegru-rank", 2,
       "--features has no effect on the model 'treegru-rank'",
       "leave it out, or choose --model {models with features}"},
      {tune + "--analytic none", 2, "--analytic has no effect on the model 'gp'",
       "leave it out, or choose --model {models with analytic}"},
      {tune + "--analytic feature --model treegru-rank", 2,
       "the model 'treegru-rank' cannot take the analytic prediction as a feature",
       "choose --analytic prior or none"},
      {tune + "--acquisition mean --model xgb-rank", 2,
       "--acquisition has no effect on a single model 'xgb-rank', which does not know how "
       "uncertain it is",
       "add --ensemble with 2 models or more"},
      {tune + "--acquisition mean --model analytic", 2,
       "--acquisition has no effect on the model 'analytic'",
       "leave it out, or choose --model {models with acquisition}"},
      {tune + "--explorer random --model gp", 2, "--model has no effect on the explorer 'random'",
       "leave it out, or search with --explorer annealing"},
      {tune + "--explorer grid --chains 4", 2, "--chains has no effect on the explorer 'grid'",
       "leave it out, or search with --explorer annealing"},
  });
}

TEST_F(CommandLines, Numbers) {
  expect_all({
      {"tune softmax:m=4,n=4 --trials many", 2, "--trials is 'many', which is not a whole number"},
      {"tune softmax:m=4,n=4 --trials 0", 2, "--trials is 0, must be between 1 and 100000000"},
      {"tune softmax:m=4,n=4 --trials -7", 2, "--trials is -7, must be between 1 and 100000000"},
      {"tune softmax:m=4,n=4 --trials 99999999999999999999", 2,
       "--trials is 99999999999999999999, must be between 1 and 100000000"},
      {"tune softmax:m=4,n=4 --trials 1.5", 2, "--trials is '1.5', which is not a whole number"},
      {"tune softmax:m=4,n=4 --seconds soon", 2, "--seconds is 'soon', which is not a number"},
      {"tune softmax:m=4,n=4 --seconds nan", 2, "--seconds is nan, must be between 0.01 and 1e+07"},
      {"bench softmax:m=4,n=4 --threads 0", 2, "--threads is 0, must be between 1 and 1024"},
      {"bench softmax:m=4,n=4 --threads 1024", 2,
       "1024 threads are asked for, but this process may use {cores of}",
       "choose --threads {cores} or fewer"},
      {"records prune --keep 0", 2, "--keep is 0, must be between 1 and 1000000000"},
  });
}

TEST_F(CommandLines, OperatorSpecs) {
  const std::string operators = "the operators are {operators}";
  expect_all({
      {"tune matmull:m=4,n=4,k=4", 2, "unknown operator 'matmull'",
       "did you mean 'matmul'? " + operators},
      {"tune zzzzzzzzzzz:m=4", 2, "unknown operator 'zzzzzzzzzzz'", operators},
      {"tune matmul", 2, "matmul needs m, n, k, which are missing",
       "its keys are m, n, k, dtype (f32)"},
      {"tune matmul:m=4,n=4", 2, "matmul needs k, which is missing",
       "its keys are m, n, k, dtype (f32)"},
      {"tune matmul:m=4,n=4,k=4,q=5", 2, "matmul has no key 'q'",
       "its keys are m, n, k, dtype (f32)"},
      {"tune matmul:m=4,n=4,k=", 2, "'k=' is not of the form key=value",
       "write an operator as name:key=value,key=value"},
      {"tune matmul:m=4,n=4,k=4,m=4", 2, "key 'm' is given twice"},
      {"tune matmul:m=four,n=4,k=4", 2, "m=four is not a whole number"},
      {"tune matmul:m=0,n=4,k=4", 2, "m is 0, must be at least 1"},
      {"tune matmul:m=-1,n=4,k=4", 2, "m is -1, must be at least 1"},
      {"tune matmul:m=99999999999,n=4,k=4", 2, "m is 99999999999, must be at most 2147483647"},
      {"tune matmul:m=99999999999999999999,n=4,k=4", 2, "m=99999999999999999999 is too large"},
      {"tune matmul:m=2000000000,n=2000000000,k=4", 2,
       "tensor 'output' of shape [2000000000, 2000000000] takes 1.49e+10 GiB, more than the limit "
       "of 64 GiB",
       "choose smaller sizes"},
      {"tune conv2d:h=8,w=8,ic=4,oc=4,kh=9,kw=9", 2,
       "the kernel spans 9 elements (kh=9, dilation=1), the padded input only 8 (h=8, pad=0+0)",
       "choose a smaller kernel or more padding"},
      {"tune reduce:m=4,n=4,op=avg", 2, "op=avg is not known",
       "choose one of sum, mean, prod, max, min, argmax, argmin"},
      {"tune matmul:m=4,n=4,k=4,dtype=bool", 1, "matmul does not take elements of type bool",
       "choose one of f32, f16, bf16, i8, u8, i32"},
      {"tune conv2d:h=8,w=8,ic=16,oc=16,kh=3,kw=3,algo=winograd4 --exact", 2,
       "--exact allows direct algorithms only, but algo=winograd4 is asked for",
       "leave out one of the two"},
      {"compile mlp --precision f8", 2, "there is no precision 'f8'",
       "choose one of f32, tf32, f16 and bf16"},
      {"submit mlp --precision half", 2, "there is no precision 'half'",
       "choose one of f32, tf32, f16 and bf16"},
      {"bench matmul:m=4,n=4,k=4 --precision bf16", 2,
       "'matmul:m=4,n=4,k=4' is an operator, which says its type itself",
       "write dtype=bf16 in it instead of --precision"},
      {"run resnet81", 2, "there is no model, file or operator 'resnet81'",
       "did you mean 'resnet18'? 'attune zoo' lists the models; an operator is written like "
       "matmul:m=1024,n=1024,k=1024"},
      {"run zzzzzzzzzzzz", 2, "there is no model, file or operator 'zzzzzzzzzzzz'",
       "'attune zoo' lists the models; an operator is written like matmul:m=1024,n=1024,k=1024"},
      {"tune softmax:m=4,n=4 -o softmax.attune", 1,
       "tuning an operator writes no artifact, so that --output has no meaning",
       "leave it out; the result is in the records"},
  });
}

TEST_F(CommandLines, Signatures) {
  expect_all({
      {"key", 2, "no command given", "'attune key --help' lists the commands"},
      {"key nwe x", 2, "unknown command 'key nwe'", "'attune key --help' lists the commands"},
      {"key new {dir}/text.npy", 2, "'{dir}/text.npy' exists, and keys are not overwritten",
       "choose another name"},
      {"compile mlp -o {dir}/x.attune --sign {dir}/none", 1,
       "cannot read the key '{dir}/none': No such file or directory",
       "'attune key new FILE' makes a key"},
      {"compile mlp -o {dir}/x.attune --sign {dir}/text.npy", 2,
       "'{dir}/text.npy' holds no private Ed25519 key without a password",
       "'attune key new FILE' makes one"},
      {"run mlp --trust {dir}/text.npy", 2, "'{dir}/text.npy' holds no public Ed25519 key",
       "name the file that 'attune key new FILE' wrote beside it, FILE.pub"},
      {"bench mlp --trust /dev/zero", 2, "'/dev/zero' is no key",
       "'attune key new FILE' makes one"},
  });
}

TEST_F(CommandLines, Simulations) {
  const std::string hint = "write --stages build=8.3,profile=39.5,update=44";
  expect_all({
      {"simulate --stages build", 2, "stage 'build' is not NAME=SECONDS", hint},
      {"simulate --stages build=-3", 2, "stage 'build=-3' is not NAME=SECONDS", hint},
      {"simulate --stages build@cloud=3", 2, "there is no pool 'cloud'", "pools are host, device"},
      {"simulate --policy fifo", 2, "unknown policy 'fifo'", "policies are {policies}"},
      {"simulate --stages build=0,profile=0", 2, "the stages of job 'job' take no time",
       "give one of them more than 0 seconds"},
      {"simulate --jobs 100000 --batches 1000000", 2,
       "300000000000 stages of 100000 jobs are more than a simulation takes, 200000 of so many",
       "choose fewer jobs or batches"},
      {"simulate --jobs 1000 --batches 100 --gantt {dir}/chart.svg", 2,
       "a chart of 300000 bars is too large, 200000 are the most",
       "choose fewer jobs or batches, or leave out --gantt"},
      {"simulate {dir}/misspelt.json", 2, "the plan has no key 'pols'",
       "did you mean 'pools'? its keys are pools, jobs, noise, heterogeneity, quotas"},
      {"simulate {dir}/plan.json --jobs 3", 2, "'simulate' takes a plan or --jobs, not both",
       "leave out one of the two; a plan says it by itself"},
      {"simulate {dir}/plan.json --stages build=1", 2,
       "'simulate' takes a plan or --stages, not both",
       "leave out one of the two; a plan says it by itself"},
      {"simulate {dir}/plan.json --heterogeneity 0", 2,
       "'simulate' takes a plan or --heterogeneity, not both",
       "leave out one of the two; a plan says it by itself"},
  });
}

TEST_F(CommandLines, Schedules) {
  const std::string write = "write one step per line, like 'split output ow 4'";
  const std::string command = "compile matmul:m=4,n=4,k=4 --schedule {dir}/";
  expect_all({
      {command + "none.trace", 1, "cannot read '{dir}/none.trace': no such file or directory"},
      {"compile matmul:m=4,n=4,k=4 --schedule {dir}", 1, "cannot read '{dir}': it is a directory"},
      {command + "misspelt.trace", 2,
       "schedule '{dir}/misspelt.trace': line 1 of the trace: unknown step 'splitt'", write},
      {command + "not_a_number.trace", 2,
       "schedule '{dir}/not_a_number.trace': line 1 of the trace: step 'split' does not parse: its "
       "factors 'x' is not a number",
       write},
      {command + "unfit.trace", 2,
       "schedule '{dir}/unfit.trace': line 2 of the trace: stage 'anchor' has no loop 'q'",
       "loops are i.0, i.1, j, k"},
      {command + "zero.trace", 2,
       "schedule '{dir}/zero.trace': line 1 of the trace: split factor for loop 'i' is 0, must be "
       "positive",
       "choose a factor between 1 and the loop's extent"},
      {"bench matmul:m=4,n=4,k=4 --schedule {dir}/algorithm.trace", 2,
       "schedule '{dir}/algorithm.trace': the schedule asks for algorithm 'winograd9', which "
       "matmul "
       "does not have",
       "its algorithms are direct"},
  });
}

TEST_F(CommandLines, Files) {
  expect_all({
      {"compile softmax:m=4,n=4 -o {dir}/none/x.so", 1,
       "cannot write '{dir}/none/x.so': directory '{dir}/none' does not exist",
       "create the directory first"},
      {"compile softmax:m=4,n=4 -o {dir}", 2, "cannot write '{dir}': it is a directory",
       "give the name of a file in it"},
      {"run matmul:m=4,n=4,k=4 --input a", 2, "input 'a' is not of the form NAME=FILE",
       "write --input a=x.npy"},
      {"run matmul:m=4,n=4,k=4 --input c=x.npy", 2, "matmul has no input 'c'",
       "its inputs are a, b"},
      {"run matmul:m=4,n=4,k=4 --input a={dir}/none.npy", 1,
       "cannot read '{dir}/none.npy': no such file or directory"},
      {"run matmul:m=4,n=4,k=4 --input a={dir}/text.npy", 1,
       "'{dir}/text.npy' is not a .npy file: it does not begin like one",
       "write it with numpy.save"},
      {"run softmax:m=4,n=4 --output {dir}/text.npy", 1,
       "cannot create directory '{dir}/text.npy': a file has this name",
       "name another directory with --output"},
  });
}

TEST_F(CommandLines, RecordsFiles) {
  const std::string damaged = "records file '{dir}/damaged.db' is damaged: file is not a database";
  const std::string hint =
      "move it away, or name another file with --records PATH; it was not changed";
  const std::string before = directory_.read("damaged.db");
  const std::string target = "write a target like 'cpu -mcpu=znver3 -threads=2'";
  const std::string kinds = "did you mean 'cpu'? the kinds are {kinds}; " + target;
  expect_all({
      {"bench softmax:m=4,n=4 --records {dir}/damaged.db", 1, damaged, hint},
      {"tune softmax:m=4,n=4 --trials 1 --records {dir}/damaged.db", 1, damaged, hint},
      {"records list --records {dir}/damaged.db", 1, damaged, hint},
      {"records list --records {dir}", 1, "cannot open records file '{dir}': it is a directory",
       "name another file with --records PATH"},
      {"bench softmax:m=4,n=4 --history {dir}/none.db", 1,
       "there is no records file '{dir}/none.db'",
       "name an existing one with --history, or 'none'"},
      {"records import {dir}/none.jsonl --format=tvm", 2, "--format=tvm is not known",
       "choose one of auto, attune, autotvm"},
      {"records export {dir}/x.log --format=auto", 2, "--format=auto is not known",
       "choose one of attune, autotvm"},
      {"records import {dir}/none.log --format=autotvm", 1,
       "cannot read '{dir}/none.log': no such file or directory"},
      {"records import {dir} --format=autotvm", 1, "cannot read '{dir}': it is a directory"},
      {"records list --target cqu", 2, "unknown target kind 'cqu'", kinds},
      {"records best --target cpu%-mcqu=x", 2, "unknown target attribute 'mcqu'", target},
      {"records curve 7 --target cqu", 2, "unknown target kind 'cqu'", kinds},
      {"records export {dir}/x.jsonl --target cqu", 2, "unknown target kind 'cqu'", kinds},
      {"records export {dir}/x.log --format=autotvm --target cqu", 2, "unknown target kind 'cqu'",
       kinds},
      {"records curve --csv --json", 2, "--csv and --json are both given",
       "leave out one of the two"},
      {"records import {dir}/none.jsonl", 1,
       "cannot read '{dir}/none.jsonl': no such file or directory"},
  });
  EXPECT_EQ(directory_.read("damaged.db"), before);
}

}  // namespace
}  // namespace attune
