#include "app/commands.h"

int main(int count, char** words) {
  return samovar::app::run_command(std::vector<std::string>(words + 1, words + count));
}
