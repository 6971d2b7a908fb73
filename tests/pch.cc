// Only builds the precompiled gtest header.
