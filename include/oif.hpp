// oif.hpp: oif.h for C++17. Objects free themselves, failures are exceptions, rows are anything
// with data() and size().
//
//     oif::detector forest(oif::params().set("num_trees", 64), 2);
//     std::vector<double> row = {60.1, 4.2};
//     double score = forest.learn_score(row);
//
// For everything else use get(): every function of oif.h takes these pointers.
#ifndef OIF_HPP
#define OIF_HPP

#include "oif.h"

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace oif {

// The status of a failed call, with its place: see oif_error.
class error : public std::runtime_error {
public:
    explicit error(const oif_error &what) : std::runtime_error(what.message), details(what) {}
    oif_error details;
};

// A non-owning view of numbers, like std::span in C++20.
class numbers {
public:
    numbers(const double *data, std::size_t size) : data_(data), size_(size) {}
    template <class Container, class = decltype(static_cast<const double *>(
                                   std::declval<const Container &>().data()))>
    numbers(const Container &values) : data_(values.data()), size_(values.size())
    {
    }
    template <std::size_t count>
    numbers(const double (&values)[count]) : data_(values), size_(count)
    {
    }
    const double *data() const { return data_; }
    std::size_t size() const { return size_; }

private:
    const double *data_;
    std::size_t size_;
};

// A detector's name and parameters.
class params {
public:
    explicit params(const std::string &detector = OIF_DEFAULT_DETECTOR);
    params &set(const std::string &name, double value);
    params &set(const std::string &name, const std::string &text);
    static params pipeline_options(); // for a pipeline: alert_rate, shingle, ...
    const oif_params *get() const { return &values_; }

private:
    struct no_detector {};
    explicit params(no_detector) { oif_pipeline_options_init(&values_); }
    oif_params values_;
};

// Learns rows and scores them. Movable; copy with clone().
class detector {
public:
    detector(const params &chosen, std::size_t columns);
    static detector load(const std::string &path);
    static detector load(const std::vector<char> &snapshot);
    void learn(numbers row);
    double score(numbers row) const;
    double learn_score(numbers row);                    // the order of the paper
    std::vector<double> learn_score_rows(numbers rows); // one row after another
    detector clone() const;
    void save(const std::string &path) const;
    std::vector<char> save() const;
    bool ready() const { return oif_detector_ready(get()); }
    std::size_t columns() const { return oif_detector_columns(get()); }
    std::uint64_t rows_learned() const { return oif_detector_rows_learned(get()); }
    oif_detector *get() const { return own_.get(); }

private:
    struct deleter {
        void operator()(oif_detector *one) const { oif_detector_free(one); }
    };
    explicit detector(oif_detector *made) : own_(made) {}
    const double *row_of(numbers row) const;
    std::unique_ptr<oif_detector, deleter> own_;
};

// From rows to alerts, with one model per key.
class pipeline {
public:
    pipeline(const params &chosen, std::size_t columns,
             const params &options = params::pipeline_options());
    static pipeline load(const std::string &path);
    oif_result process(numbers row, std::string_view key = {}, double seconds = NAN);
    std::vector<oif_attribution> explain(); // the last processed row
    void save(const std::string &path) const;
    std::size_t columns() const { return oif_pipeline_columns(get()); }
    std::uint64_t rows() const { return oif_pipeline_rows(get()); }
    oif_pipeline *get() const { return own_.get(); }

private:
    struct deleter {
        void operator()(oif_pipeline *one) const { oif_pipeline_free(one); }
    };
    explicit pipeline(oif_pipeline *made) : own_(made) {}
    std::unique_ptr<oif_pipeline, deleter> own_;
};

// ---- Implementation ----

namespace internal {
// Calls a function of oif.h whose last argument is an error; throws if it fails.
template <class Function, class... Arguments> void call(Function function, Arguments... arguments)
{
    oif_error why = {};
    if (function(arguments..., &why) != OIF_OK)
        throw error(why);
}

inline void require(bool fits, std::size_t size, std::size_t columns)
{
    if (!fits)
        throw std::invalid_argument("oif: " + std::to_string(size) +
                                    " numbers were given where a row has " +
                                    std::to_string(columns));
}
} // namespace internal

inline params::params(const std::string &detector)
{
    internal::call(oif_params_init, &values_, detector.c_str());
}

inline params params::pipeline_options()
{
    return params(no_detector());
}

inline params &params::set(const std::string &name, double value)
{
    internal::call(oif_params_set, &values_, name.c_str(), value);
    return *this;
}

inline params &params::set(const std::string &name, const std::string &text)
{
    internal::call(oif_params_set_text, &values_, name.c_str(), text.c_str());
    return *this;
}

inline detector::detector(const params &chosen, std::size_t columns)
{
    oif_detector *made = nullptr;
    internal::call(oif_detector_new, chosen.get(), columns, &made);
    own_.reset(made);
}

inline detector detector::load(const std::string &path)
{
    oif_detector *made = nullptr;
    internal::call(oif_detector_load_file, path.c_str(), &made);
    return detector(made);
}

inline detector detector::load(const std::vector<char> &snapshot)
{
    oif_detector *made = nullptr;
    internal::call(oif_detector_load_memory, static_cast<const void *>(snapshot.data()),
                   snapshot.size(), &made);
    return detector(made);
}

inline const double *detector::row_of(numbers row) const
{
    internal::require(row.size() == columns(), row.size(), columns());
    return row.data();
}

inline void detector::learn(numbers row)
{
    internal::call(oif_detector_learn, get(), row_of(row));
}

inline double detector::score(numbers row) const
{
    double score = 0;
    internal::call(oif_detector_score, get(), row_of(row), &score);
    return score;
}

inline double detector::learn_score(numbers row)
{
    double score = 0;
    internal::call(oif_detector_learn_score, get(), row_of(row), &score);
    return score;
}

inline std::vector<double> detector::learn_score_rows(numbers rows)
{
    internal::require(rows.size() % columns() == 0, rows.size(), columns());
    std::vector<double> scores(rows.size() / columns());
    internal::call(oif_detector_learn_score_rows, get(), rows.data(), scores.size(), columns(),
                   scores.data());
    return scores;
}

inline detector detector::clone() const
{
    oif_detector *copy = nullptr;
    internal::call(oif_detector_clone, get(), &copy);
    return detector(copy);
}

inline void detector::save(const std::string &path) const
{
    internal::call(oif_detector_save_file, get(), path.c_str());
}

inline std::vector<char> detector::save() const
{
    std::vector<char> snapshot(oif_detector_snapshot_bytes(get()));
    internal::call(oif_detector_save_memory, get(), static_cast<void *>(snapshot.data()),
                   snapshot.size());
    return snapshot;
}

inline pipeline::pipeline(const params &chosen, std::size_t columns, const params &options)
{
    oif_pipeline *made = nullptr;
    internal::call(oif_pipeline_new, chosen.get(), columns, options.get(), &made);
    own_.reset(made);
}

inline pipeline pipeline::load(const std::string &path)
{
    oif_pipeline *made = nullptr;
    internal::call(oif_pipeline_load_file, path.c_str(), &made);
    return pipeline(made);
}

inline oif_result pipeline::process(numbers row, std::string_view key, double seconds)
{
    oif_result result = {};
    internal::require(row.size() == columns(), row.size(), columns());
    internal::call(oif_pipeline_process_at, get(), key.data(), key.size(), seconds, row.data(),
                   &result);
    return result;
}

inline std::vector<oif_attribution> pipeline::explain()
{
    std::vector<oif_attribution> attributions(oif_pipeline_learned_columns(get()));
    oif_pipeline_explain(get(), attributions.data());
    return attributions;
}

inline void pipeline::save(const std::string &path) const
{
    internal::call(oif_pipeline_save_file, get(), path.c_str());
}

} // namespace oif

#endif
