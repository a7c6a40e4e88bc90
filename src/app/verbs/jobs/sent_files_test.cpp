#include "app/verbs/jobs/sent_files.h"

#include <gtest/gtest.h>

#include "app/verbs/jobs/job_options.h"

namespace attune::verbs {
namespace {

TEST(FilesOfARequest, TakeThePlaceOfPaths) {
  client::JobRequest request{.model = "mlp", .output = "/home/me/mlp.attune"};
  request.options_json = to_json(JobOptions{.constants = {"k=3", "sizes=/home/me/s.npy"},
                                            .inputs = {{"in", "/home/me/x.npy"}},
                                            .records = "/home/me/r.db",
                                            .history = "/home/me/h.db"});
  const auto sent = with_sent_files(request);
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(sent->request.model, "mlp");
  EXPECT_EQ(sent->request.output, "mlp.attune");
  const auto options = parse_job_options(sent->request.options_json);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->inputs[0].path, "inputs/0-x.npy");
  EXPECT_EQ(options->constants, (std::vector<std::string>{"k=3", "sizes=constants/1-s.npy"}));
  EXPECT_EQ(options->records, "");
  EXPECT_EQ(options->history, "");
  ASSERT_EQ(sent->files.size(), 2u);
  EXPECT_EQ(sent->files[0].path, "/home/me/x.npy");
  EXPECT_EQ(sent->files[1].name, "constants/1-s.npy");
}

}  // namespace
}  // namespace attune::verbs
