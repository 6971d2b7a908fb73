// Svg: a drawing in SVG, written element by element. Colours are classes, which the page's style
// gives a light and a dark look. Numbers have at most two decimals, so the same drawing is the same
// bytes everywhere. A value; one thread. Coordinates in user units, y downwards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace samovar::bench {

// With & < > " replaced.
[[nodiscard]] std::string escape_markup(std::string_view text);

[[nodiscard]] std::string svg_number(double value);

struct Point {
  double x = 0;
  double y = 0;
};

enum class Anchor { start, middle, end };

class Svg {
 public:
  // `label`: what somebody who cannot see it is told.
  Svg(double width, double height, std::string_view label);

  void line(Point from, Point to, std::string_view classes);
  void polyline(const std::vector<Point>& points, std::string_view classes);
  void polygon(const std::vector<Point>& points, std::string_view classes);
  // `tip` is shown when the pointer rests on it; may be empty.
  void circle(Point centre, double radius, std::string_view classes, std::string_view tip);
  void rect(Point corner, double width, double height, std::string_view classes,
            std::string_view tip);
  void text(Point at, std::string_view words, Anchor anchor, std::string_view classes);
  void turned_text(Point at, std::string_view words);  // upwards, centred

  [[nodiscard]] std::string finish();

 private:
  void points(const char* element, const std::vector<Point>& points, std::string_view classes);

  std::string out_;
};

}  // namespace samovar::bench
