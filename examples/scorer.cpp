// Scores rows of two numbers from standard input and prints those that stand out.
//
//     c++ -std=c++17 scorer.cpp $(pkg-config --cflags --libs oif) -o scorer
//     printf '60,4\n61,4.1\n' | ./scorer
#include <oif.hpp>

#include <array>
#include <cstdio>

int main()
try {
    oif::detector forest(oif::params().set("num_trees", 64), 2);
    std::array<double, 2> row;
    while (std::scanf("%lf,%lf%*[^\n]", &row[0], &row[1]) == 2) {
        double score = forest.learn_score(row);
        if (forest.ready() && score > 0.7)
            std::printf("%g,%g is unusual: %.3f\n", row[0], row[1], score);
    }

    oif::detector copy = oif::detector::load(forest.save()); // continues where the forest is
    std::printf("%llu rows\n", static_cast<unsigned long long>(copy.rows_learned()));
} catch (const oif::error &why) {
    std::fprintf(stderr, "scorer: %s\n", why.what());
    return 1;
}
