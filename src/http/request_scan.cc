#include "http/request_scan.h"

#include <algorithm>
#include <charconv>

namespace samovar {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::size_t kChunkLineMax = 1'024;
constexpr std::uint64_t kChunkMax = std::uint64_t{1} << 40;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

template <class Number>
bool read_number(std::string_view text, Number& value, int base) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return !text.empty() && error == std::errc() && stop == text.data() + text.size();
}

}  // namespace

Arrival RequestScan::look(std::string_view request) {
  if (framing_ == Framing::unknown) {
    const std::size_t end = request.find(kHeadEnd, at_ - std::min(at_, kHeadEnd.size() - 1));
    const bool complete = end != std::string_view::npos;
    if ((complete ? end : request.size()) > bounds_.head_bytes) return Arrival::oversize;
    at_ = complete ? end + kHeadEnd.size() : request.size();
    if (!complete) return Arrival::head;
    if (!read_head(request.substr(0, end))) framing_ = Framing::none;
  }
  if (framing_ == Framing::none || request.size() >= bounds_.held_bytes) return Arrival::ready;
  const bool complete =
      framing_ == Framing::length ? request.size() >= whole_ : chunks_complete(request);
  return complete ? Arrival::ready : Arrival::body;
}

bool RequestScan::read_head(std::string_view head) {
  framing_ = Framing::none;
  for (std::size_t line_at = head.find(kLineEnd); line_at != std::string_view::npos;) {
    const std::size_t begin = line_at + kLineEnd.size();
    line_at = head.find(kLineEnd, begin);
    const std::string_view line = head.substr(begin, line_at - begin);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = trimmed(line.substr(colon + 1));
    // Its client sends no body before it is told to, which is the serving thread's business.
    if (equal_ignoring_case(name, "expect")) return false;
    if (equal_ignoring_case(name, "content-length")) {
      std::uint64_t length = 0;
      if (framing_ != Framing::none || !read_number(value, length, 10)) return false;
      if (length > bounds_.body_bytes_max) return false;
      framing_ = Framing::length;
      whole_ = at_ + length;
    } else if (equal_ignoring_case(name, "transfer-encoding")) {
      if (framing_ != Framing::none || !equal_ignoring_case(value, "chunked")) return false;
      framing_ = Framing::chunked;
    }
  }
  return true;
}

bool RequestScan::chunks_complete(std::string_view request) {
  for (;;) {
    const std::uint64_t step = std::min<std::uint64_t>(chunk_left_, request.size() - at_);
    at_ += step;
    chunk_left_ -= step;
    if (chunk_left_ > 0) return false;
    const std::size_t end = request.find(kLineEnd, at_);
    if (end == std::string_view::npos) return request.size() - at_ > kChunkLineMax;
    std::string_view line = request.substr(at_, end - at_);
    at_ = end + kLineEnd.size();
    if (trailers_) {
      if (line.empty()) return true;
      continue;
    }
    std::uint64_t size = 0;
    line = trimmed(line.substr(0, line.find(';')));
    if (!read_number(line, size, 16) || size > kChunkMax) return true;
    trailers_ = size == 0;
    if (size > 0) chunk_left_ = size + kLineEnd.size();
  }
}

std::string_view path_of(std::string_view request) {
  const std::string_view line = request.substr(0, request.find(kLineEnd));
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return {};
  const std::string_view target = line.substr(space + 1);
  return target.substr(0, target.find_first_of(" ?#"));
}

bool is_probe(std::string_view request) {
  const std::string_view path = path_of(request);
  return request.starts_with("GET ") && (path == "/health" || path == "/ready");
}

}  // namespace samovar
