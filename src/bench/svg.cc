#include "bench/svg.h"

#include <fmt/format.h>

#include <cmath>

namespace samovar::bench {

std::string escape_markup(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string svg_number(double value) {
  std::string text = fmt::format("{:.2f}", std::isfinite(value) ? value : 0.0);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

Svg::Svg(double width, double height, std::string_view label)
    : out_(fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                       svg_number(width), svg_number(height), escape_markup(label))) {}

void Svg::line(Point from, Point to, std::string_view classes) {
  out_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", classes,
                      svg_number(from.x), svg_number(from.y), svg_number(to.x), svg_number(to.y));
}

void Svg::points(const char* element, const std::vector<Point>& points, std::string_view classes) {
  std::string list;
  for (const Point& point : points) {
    list += (list.empty() ? "" : " ") + svg_number(point.x) + "," + svg_number(point.y);
  }
  out_ += fmt::format("<{} class=\"{}\" points=\"{}\"/>\n", element, classes, list);
}

void Svg::polyline(const std::vector<Point>& line, std::string_view classes) {
  points("polyline", line, classes);
}

void Svg::polygon(const std::vector<Point>& line, std::string_view classes) {
  points("polygon", line, classes);
}

void Svg::circle(Point centre, double radius, std::string_view classes, std::string_view tip) {
  out_ += fmt::format(
      "<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"><title>{}</title></circle>\n", classes,
      svg_number(centre.x), svg_number(centre.y), svg_number(radius), escape_markup(tip));
}

void Svg::rect(Point corner, double width, double height, std::string_view classes,
               std::string_view tip) {
  out_ += fmt::format(
      "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>\n",
      classes, svg_number(corner.x), svg_number(corner.y), svg_number(width), svg_number(height),
      escape_markup(tip));
}

void Svg::text(Point at, std::string_view words, Anchor anchor, std::string_view classes) {
  const char* where = anchor == Anchor::start ? "start" : anchor == Anchor::end ? "end" : "middle";
  out_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n",
                      classes, svg_number(at.x), svg_number(at.y), where, escape_markup(words));
}

void Svg::turned_text(Point at, std::string_view words) {
  out_ += fmt::format(
      "<text class=\"label\" transform=\"translate({} {}) rotate(-90)\" "
      "text-anchor=\"middle\">{}</text>\n",
      svg_number(at.x), svg_number(at.y), escape_markup(words));
}

std::string Svg::finish() { return out_ + "</svg>\n"; }

}  // namespace samovar::bench
