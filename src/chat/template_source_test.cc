// Goal: no time of day reaches a prompt. Method: a table of template sources.
#include "chat/template_source.h"

#include <gtest/gtest.h>

namespace samovar {
namespace {

TEST(FreezeTimeOfDay, KeepsDatesAndFreezesClocks) {
  struct Case {
    const char* source;
    const char* frozen;
  };
  const Case cases[] = {
      {"no time {{ messages }}", "no time {{ messages }}"},
      {"{{ strftime_now(\"%d %b %Y\") }}", "{{ strftime_now(\"%d %b %Y\") }}"},
      {"{{ strftime_now( '%Y-%m-%d %H:%M:%S' ) }}x", "{{ strftime_now( '%Y-%m-%d 00:00:00' ) }}x"},
      {"{{ strftime_now('%T') }}{{ strftime_now(\"%I %p\") }}",
       "{{ strftime_now('00:00:00') }}{{ strftime_now(\"12 AM\") }}"},
      {"{{ strftime_now('100%% %H') }}", "{{ strftime_now('100%% 00') }}"},
      {"{{ strftime_now(format) }} %H", "{{ strftime_now(format) }} %H"},
      {"strftime_now(", "strftime_now("},
      {"strftime_now('%H", "strftime_now('%H"},
  };
  for (const Case& c : cases) EXPECT_EQ(freeze_time_of_day(c.source), c.frozen);
}

TEST(LocalDate, IsADate) {
  const std::string date = local_date();
  ASSERT_EQ(date.size(), 10U);
  EXPECT_EQ(date[4], '-');
  EXPECT_EQ(date[7], '-');
}

}  // namespace
}  // namespace samovar
