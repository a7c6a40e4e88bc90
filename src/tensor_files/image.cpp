#include "tensor_files/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "base/text_file.h"

namespace attune::tensor_files {
namespace {

Error malformed(const std::string& path, const std::string& why) {
  return {ErrorCode::Corrupt, fmt::format("'{}' is not a binary PPM or PGM file: {}", path, why),
          "convert the picture, e.g. with ImageMagick: convert picture.jpg picture.ppm"};
}

// The next number of the header, behind blanks and comments.
std::optional<std::int64_t> header_number(const std::string& bytes, std::size_t& at) {
  while (at < bytes.size()) {
    if (bytes[at] == '#') {
      at = std::min(bytes.find('\n', at), bytes.size());
    } else if (std::isspace(static_cast<unsigned char>(bytes[at])) == 0) {
      break;
    }
    if (at < bytes.size()) ++at;
  }
  std::int64_t value = 0;
  const std::size_t begin = at;
  constexpr std::size_t kMostDigits = 7;
  while (at < bytes.size() && at - begin < kMostDigits &&
         std::isdigit(static_cast<unsigned char>(bytes[at])) != 0) {
    value = value * 10 + (bytes[at++] - '0');
  }
  if (at == begin) return std::nullopt;
  return value;
}

// Where channels, height and width of an input are.
struct Axes {
  std::int64_t channels = 0, height = 0, width = 0, batch = 1;
  bool channels_first = true;
};

std::optional<Axes> axes_of(const std::vector<std::int64_t>& shape) {
  if (shape.size() != 3 && shape.size() != 4) return std::nullopt;
  const std::size_t first = shape.size() - 3;
  const std::int64_t batch = first == 1 ? shape[0] : 1;
  const auto is_channels = [](std::int64_t extent) { return extent == 1 || extent == 3; };
  if (is_channels(shape[first])) {
    return Axes{shape[first], shape[first + 1], shape[first + 2], batch, true};
  }
  if (!is_channels(shape[first + 2])) return std::nullopt;
  return Axes{shape[first + 2], shape[first], shape[first + 1], batch, false};
}

float pixel(const Image& image, std::int64_t y, std::int64_t x, std::int64_t c,
            std::int64_t channels) {
  const auto at = [&](std::int64_t channel) {
    return image.pixels[static_cast<std::size_t>((y * image.width + x) * image.channels + channel)];
  };
  if (image.channels == channels) return at(c);
  if (image.channels == 1) return at(0);
  return 0.299F * at(0) + 0.587F * at(1) + 0.114F * at(2);  // as Rec. 601 weighs the colours
}

// Where element `i` of `to` lies between the elements of `from`, by the centres of the pixels.
struct Between {
  std::int64_t low = 0, high = 0;
  float part = 0;  // of `high`
};
Between between(std::int64_t i, std::int64_t from, std::int64_t to, bool nearest) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  double place = (static_cast<double>(i) + 0.5) * ratio - 0.5;
  if (nearest) place = std::floor((static_cast<double>(i) + 0.5) * ratio);
  place = std::clamp(place, 0.0, static_cast<double>(from - 1));
  const auto low = static_cast<std::int64_t>(place);
  return {low, std::min(low + 1, from - 1), static_cast<float>(place - static_cast<double>(low))};
}

float sample(const Image& image, const Between& y, const Between& x, std::int64_t c,
             std::int64_t channels) {
  const auto row = [&](std::int64_t at) {
    return pixel(image, at, x.low, c, channels) * (1 - x.part) +
           pixel(image, at, x.high, c, channels) * x.part;
  };
  return row(y.low) * (1 - y.part) + row(y.high) * y.part;
}

Status check_list(const std::vector<double>& list, std::int64_t channels, std::string_view option) {
  if (list.size() <= 1 || static_cast<std::int64_t>(list.size()) == channels) return {};
  return invalid(fmt::format("{} has {} numbers, the input has {} {}", option, list.size(),
                             channels, channels == 1 ? "channel" : "channels"),
                 "give one number, or one per channel");
}

double of_channel(const std::vector<double>& list, std::int64_t c, double otherwise) {
  if (list.empty()) return otherwise;
  return list.size() == 1 ? list[0] : list[static_cast<std::size_t>(c)];
}

}  // namespace

Result<Image> parse_image(const std::string& bytes, const std::string& path) {
  if (bytes.size() < 2 || bytes[0] != 'P' || (bytes[1] != '5' && bytes[1] != '6')) {
    return malformed(path, "it does not begin like one");
  }
  std::size_t at = 2;
  const auto width = header_number(bytes, at), height = header_number(bytes, at),
             most = header_number(bytes, at);
  if (!width || !height || !most || *width == 0 || *height == 0 || *most == 0 || *most > 255) {
    return malformed(path, "its header is damaged");
  }
  ++at;  // one blank
  Image image{*height, *width, bytes[1] == '6' ? 3 : 1, {}};
  const std::int64_t need = image.height * image.width * image.channels;
  const auto have = static_cast<std::int64_t>(bytes.size() - std::min(at, bytes.size()));
  if (have < need) {
    return malformed(path, fmt::format("{}x{} pixels need {} bytes, {} are there", image.width,
                                       image.height, need, have));
  }
  image.pixels.resize(static_cast<std::size_t>(need));
  const float scale = 255.0F / static_cast<float>(*most);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<float>(static_cast<unsigned char>(bytes[at + i])) * scale;
  }
  return image;
}

Result<Image> read_image(const std::string& path) {
  constexpr std::uint64_t kLargestBytes = std::uint64_t{1} << 28;  // pixels take four times that
  ATTUNE_ASSIGN(const std::string bytes, read_text_file(path, kLargestBytes));
  return parse_image(bytes, path);
}

Result<runtime::Tensor> image_input(const Image& image, runtime::DType type,
                                    const std::vector<std::int64_t>& shape,
                                    const ImageOptions& options, const std::string& name) {
  const std::optional<Axes> axes = axes_of(shape);
  if (!axes) {
    return invalid(fmt::format("input '{}' has shape {}, which no image has", name,
                               runtime::shape_text(shape)),
                   "images are [n,c,h,w] or [n,h,w,c] with 1 or 3 channels; use --input");
  }
  ATTUNE_RETURN_IF_ERROR(check_list(options.mean, axes->channels, "--mean"));
  ATTUNE_RETURN_IF_ERROR(check_list(options.deviation, axes->channels, "--std"));
  const double scale =
      options.scale != 0 ? options.scale : (runtime::is_float(type) ? 1.0 / 255 : 1.0);
  ATTUNE_ASSIGN(runtime::Tensor tensor, runtime::Tensor::allocate(type, shape));
  std::int64_t element = 0;
  const auto put = [&](std::int64_t y, std::int64_t x, std::int64_t c) {
    const float value =
        sample(image, between(y, image.height, axes->height, options.nearest),
               between(x, image.width, axes->width, options.nearest), c, axes->channels);
    double scaled = (static_cast<double>(value) * scale - of_channel(options.mean, c, 0)) /
                    of_channel(options.deviation, c, 1);
    if (!runtime::is_float(type)) scaled = std::round(scaled);
    runtime::write_element(tensor.data(), type, element++, scaled);
  };
  const std::int64_t outer = axes->channels_first ? axes->channels : 1;
  const std::int64_t inner = axes->channels_first ? 1 : axes->channels;
  for (std::int64_t n = 0; n < axes->batch; ++n) {
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t y = 0; y < axes->height; ++y) {
        for (std::int64_t x = 0; x < axes->width; ++x) {
          for (std::int64_t i = 0; i < inner; ++i) put(y, x, axes->channels_first ? o : i);
        }
      }
    }
  }
  return tensor;
}

}  // namespace attune::tensor_files
