// oif.hpp: oif.h for C++17. Objects free themselves, failures are exceptions, rows are anything
// with data() and size().
//
//     oif::detector forest(oif::params().set("num_trees", 64), 2);
//     std::vector<double> row = {60.1, 4.2};
//     double score = forest.learn_score(row);
//
// docs/c.md lists the functions of oif.h that have no method; most take a callback.
// Pass get() to these.
//
// An object that was moved from is empty: get() returns nullptr, methods throw std::logic_error,
// and it can be destroyed or assigned to. Texts and keys are std::string_view of any bytes.
#ifndef OIF_HPP
#define OIF_HPP

#if __cplusplus < 201703L && !(defined _MSVC_LANG && _MSVC_LANG >= 201703L)
#error "oif.hpp needs C++17, so compile with -std=c++17; oif.h serves C++11"
#endif

#include "oif.h"

#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oif {

// NAN itself is a float.
constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

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
    static params incident_options(); // for incidents: window_seconds, ...
    double value(const std::string &name) const;
    std::size_t estimate_bytes(std::size_t columns) const; // of a detector
    bool adds_columns() const { return oif_detector_adds_columns(&values_); }
    const oif_params *get() const { return &values_; }

private:
    friend class detector;
    friend class pipeline;
    using initializer = void (*)(oif_params *);
    explicit params(initializer initialize) { initialize(&values_); }
    explicit params(const oif_params *values) : values_(*values) {}
    oif_params values_;
};

// Checks rules without a pipeline: see oif_rules_check.
void check_rules(std::string_view text);

// A number for a text, in a column that is a category: see oif_category.
inline double category(std::string_view text)
{
    return oif_category(text.data(), text.size());
}

// A figure about the learned state, such as the leaves of a forest: see oif_detector_describe.
struct figure {
    std::string name;
    double value;
};

// Learns rows and scores them. Movable; copy with clone().
class detector {
public:
    detector(const params &chosen, std::size_t columns);
    static detector load(const std::string &path);
    static detector load(const std::vector<char> &snapshot);
    void learn(numbers row);
    double score(numbers row) const;
    double learn_score(numbers row); // the order of the paper
    double score_learn(numbers row); // a row does not lower its own score
    // Blocks: one row after another, without gaps.
    void learn_rows(numbers rows);
    std::vector<double> score_rows(numbers rows) const;
    std::vector<double> learn_score_rows(numbers rows);
    std::vector<double> score_learn_rows(numbers rows);
    void set_threads(unsigned threads); // that share the work on a block
    void reset();                       // forgets all rows
    // The part of each column in the score of a row. Rows of several steps: of each of
    // `step_columns` columns.
    std::vector<double> explain(numbers row, std::size_t step_columns = 0) const;
    detector clone() const;
    void save(const std::string &path) const;
    std::vector<char> save() const;
    bool ready() const { return oif_detector_ready(own()); }
    std::size_t columns() const { return oif_detector_columns(own()); }
    std::uint64_t rows_learned() const { return oif_detector_rows_learned(own()); }
    std::size_t memory_bytes() const { return oif_detector_memory_bytes(own()); }
    params parameters() const { return params(oif_detector_params(own())); }
    std::vector<figure> describe() const;
    void check() const; // every invariant: for tests
    void name_columns(const std::vector<std::string> &names);
    std::vector<std::string> column_names() const; // empty if they have none
    oif_detector *get() const { return own_.get(); }

private:
    friend class pipeline;
    friend class state_file;
    struct deleter {
        void operator()(oif_detector *one) const { oif_detector_free(one); }
    };
    explicit detector(oif_detector *made) : own_(made) {}
    oif_detector *own() const;
    const double *row_of(numbers row) const;
    std::size_t count_of(numbers rows) const;
    std::unique_ptr<oif_detector, deleter> own_;
};

// A rule that holds back alerts, with what it held back: see oif_rule_info.
struct rule {
    std::string text;
    std::uint64_t held;
    double first_seconds, last_seconds;
};

// The results of a table, and how sure they are: see oif_pipeline_process_table.
struct table {
    std::vector<oif_result> results;
    oif_table_info info;
};

// What a learned column is derived from, and how.
struct learned_column {
    std::size_t column;
    oif_derive kind;
};

// A key of a pipeline. The key is a copy: details.key is nullptr.
struct key_info {
    std::string key;
    oif_key_info details;
};

// The columns that keys and times come from; empty: none.
struct roles {
    std::optional<std::string> key, time;
};

// Models that were evicted and could not be kept, and why the last one was lost.
struct lost_models {
    std::uint64_t count;
    std::string why;
};

// A key that was silent for too long: see oif_silence.
struct silence {
    std::string key;
    double since, allowed;
};

// A past episode. The key is a copy: details.key is nullptr.
struct past_episode {
    std::string key;
    oif_past_episode details;
};

// The row of a block that failed. The rows before it were processed: their results are here.
class rows_error : public error {
public:
    rows_error(const oif_error &what, std::vector<oif_result> &&before)
        : error(what), results(std::move(before))
    {
    }
    std::vector<oif_result> results;
};

// From rows to alerts, with one model per key. Movable; copy with clone().
class pipeline {
public:
    pipeline(const params &chosen, std::size_t columns,
             const params &options = params::pipeline_options());
    // Takes the detector, which may have learned rows, for one key.
    static pipeline around(detector &&one, const params &options = params::pipeline_options(),
                           std::string_view key = {});
    static pipeline load(const std::string &path);
    static pipeline load(const std::vector<char> &snapshot);
    void save(const std::string &path) const;
    std::vector<char> save() const;
    pipeline clone() const;

    oif_result process(numbers row, std::string_view key = {}, double seconds = no_time);
    // One row after another. `keys` and `seconds` are empty, or have one for each row.
    std::vector<oif_result> process_rows(numbers rows,
                                         const std::vector<std::string_view> &keys = {},
                                         const std::vector<double> &seconds = {});
    // A finished table, in place of the first rows. `seconds` is empty, or has one for each row.
    table process_table(numbers rows, const std::vector<double> &seconds = {});
    void set_threads(unsigned threads); // that share the rows of a block
    // All three are about the last processed row, with one entry per learned column.
    std::vector<oif_attribution> explain();
    std::vector<oif_expected> expected() const;
    std::vector<double> learned_row() const; // empty before the first row
    std::string recent_key() const;          // of the last processed row
    std::optional<oif_episode_info> episode(std::string_view key = {}) const;
    std::vector<silence> silent(double seconds);
    double next_silence() { return oif_pipeline_next_silence(own()); }
    double silence_after(std::string_view key, double seconds) const;

    void name_columns(const std::vector<std::string> &names);
    std::vector<std::string> column_names() const; // empty if they have none
    void derive(std::size_t column, oif_derive kind, bool keep = false);
    void derive(const std::vector<oif_derive_column> &derived); // all of them or none
    std::vector<learned_column> learned_columns() const;
    // After the others, with rows processed or not. `names` is empty if columns have none.
    void add_columns(std::size_t count, const std::vector<std::string> &names = {},
                     const std::vector<oif_derive_column> &derived = {});
    void change(const std::string &option, double value);
    void limit_memory(std::size_t bytes) { oif_pipeline_limit_memory(own(), bytes); }

    std::optional<key_info> find_key(std::string_view key) const;
    std::vector<key_info> list_keys() const;
    void remove_key(std::string_view key);
    std::vector<oif_season_info> seasons(std::string_view key = {}) const;
    // One key, to load it elsewhere, under a new name if there is one.
    std::vector<char> save_key(std::string_view key) const;
    void save_key(std::string_view key, const std::string &path) const;
    key_info load_key(const std::vector<char> &snapshot,
                      std::optional<std::string_view> as = std::nullopt);
    key_info load_key(const std::string &path, std::optional<std::string_view> as = std::nullopt);
    void exchange_detector(std::string_view key, detector &other);

    // Kept in snapshots, without a meaning to the pipeline.
    void name_roles(const roles &names);
    std::optional<roles> column_roles() const; // empty if they were never named
    void attach(const std::vector<char> &bytes);
    std::vector<char> attachment() const;

    void set_rules(std::string_view text); // one rule per line
    void add_rules(std::string_view text);
    std::vector<rule> rules() const;

    // Feedback: see "Pipelines: feedback" in oif.h.
    void keep_episodes(bool keep = true);
    bool keeps_episodes() const { return oif_pipeline_keeps_episodes(own()); }
    std::vector<past_episode> past_episodes() const;
    std::string propose(std::string_view key, std::uint64_t number) const; // a rule, or ""

    std::size_t columns() const { return oif_pipeline_columns(own()); }
    std::uint64_t rows() const { return oif_pipeline_rows(own()); }
    std::size_t keys() const { return oif_pipeline_keys(own()); }
    params parameters() const { return params(oif_pipeline_detector_params(own())); }
    params options() const { return params(oif_pipeline_options(own())); }
    std::size_t memory_bytes() const { return oif_pipeline_memory_bytes(own()); }
    std::uint64_t evictions() const { return oif_pipeline_evictions(own()); }
    std::uint64_t unmodelled_rows() const { return oif_pipeline_unmodelled_rows(own()); }
    std::uint64_t restarts() const { return oif_pipeline_restarts(own()); }
    std::size_t kept() const { return oif_pipeline_kept(own()); }
    lost_models lost() const;
    oif_log_info log() const { return oif_pipeline_log(own()); }
    void check() const; // every invariant: for tests
    oif_pipeline *get() const { return own_.get(); }

private:
    friend class state_file;
    struct deleter {
        void operator()(oif_pipeline *one) const { oif_pipeline_free(one); }
    };
    explicit pipeline(oif_pipeline *made) : own_(made) {}
    oif_pipeline *own() const;
    std::unique_ptr<oif_pipeline, deleter> own_;
};

// A file that this program holds, so no other program writes to it: see "State files" in oif.h.
class state_file {
public:
    explicit state_file(const std::string &path);
    void save(const detector &one);
    void save(const pipeline &one);
    void update(pipeline &one); // see oif_state_file_update_pipeline
    std::optional<detector> load_detector() const; // empty if there is no file yet
    std::optional<pipeline> load_pipeline();
    void keep_evicted(pipeline &one);
    oif_state_file *get() const { return own_.get(); }

private:
    struct deleter {
        void operator()(oif_state_file *one) const { oif_state_file_close(one); }
    };
    oif_state_file *own() const;
    std::unique_ptr<oif_state_file, deleter> own_;
};

// The start or the end of an episode: see oif_incident_event. A name ends at its first NUL.
struct incident_event {
    std::string key;
    double seconds = no_time;
    std::string column, reason, stream;
    double severity = 0;
    std::uint64_t episode = 0;
};

struct incident_member {
    std::string key, column, reason, stream;
    double seconds, end_seconds; // NAN: it has not ended
    double severity;
    std::uint64_t episode;
};

struct incident_shared {
    bool is_column; // else it is a part of the key
    std::string text;
};

struct incident {
    oif_incident_info info;
    std::vector<incident_member> members; // in the order in which they were reported
    std::vector<incident_shared> shared;
};

// Joins episodes that begin together: see "Incidents" in oif.h.
class incidents {
public:
    explicit incidents(const params &options = params::incident_options());
    static incidents load(const std::vector<char> &snapshot);
    std::vector<char> save() const;
    oif_incident_place begin(const incident_event &event);
    oif_incident_place end(const incident_event &event);
    std::size_t size() const { return numbers().size(); }
    std::vector<std::uint64_t> numbers() const;
    void check() const; // every invariant: for tests
    std::optional<incident> find(std::uint64_t number) const;
    oif_incidents *get() const { return own_.get(); }

private:
    struct deleter {
        void operator()(oif_incidents *one) const { oif_incidents_free(one); }
    };
    using report_function = oif_status (*)(oif_incidents *, const oif_incident_event *,
                                           oif_incident_place *, oif_error *);
    explicit incidents(oif_incidents *made) : own_(made) {}
    oif_incidents *own() const;
    oif_incident_place report(report_function function, const incident_event &event);
    std::unique_ptr<oif_incidents, deleter> own_;
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

// What an object owns; throws if it was moved from.
template <class Object> Object *owned(Object *object)
{
    if (!object)
        throw std::logic_error("oif: the object was moved from; assign to it before it is used");
    return object;
}

// Pointers to the names, for C; nullptr without names.
class name_list {
public:
    explicit name_list(const std::vector<std::string> &names)
    {
        for (const std::string &name : names)
            texts_.push_back(name.c_str());
    }
    const char *const *get() const { return texts_.empty() ? nullptr : texts_.data(); }

private:
    std::vector<const char *> texts_;
};

inline void require_names(const std::vector<std::string> &names, std::size_t columns)
{
    if (names.size() != columns)
        throw std::invalid_argument("oif: " + std::to_string(names.size()) + " names for " +
                                    std::to_string(columns) + " columns");
}

template <class Object>
std::vector<std::string> names_of(const Object *object, std::size_t columns,
                                  const char *(*name_of)(const Object *, std::size_t))
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < columns && name_of(object, i); i++)
        names.emplace_back(name_of(object, i));
    return names;
}

// A text that may be nullptr without bytes.
inline std::string copy_of(const char *text, std::size_t bytes)
{
    return text ? std::string(text, bytes) : std::string();
}

inline key_info copy_of(const oif_key_info &info)
{
    key_info copy = {copy_of(info.key, info.key_bytes), info};
    copy.details.key = nullptr;
    return copy;
}

// What a callback of the library is given. An exception must not cross the library, so a lack of
// memory is thrown later.
template <class Item> class collection {
public:
    template <class Make> void add(Make make) noexcept
    {
        try {
            items_.push_back(make());
        } catch (const std::exception &) {
            is_full_ = true;
        }
    }
    std::vector<Item> take()
    {
        if (is_full_)
            throw std::bad_alloc();
        return std::move(items_);
    }

private:
    std::vector<Item> items_;
    bool is_full_ = false;
};

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
    return params(oif_pipeline_options_init);
}

inline params params::incident_options()
{
    return params(oif_incidents_options_init);
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

inline double params::value(const std::string &name) const
{
    double value = 0;
    internal::call(oif_params_get, &values_, name.c_str(), &value);
    return value;
}

inline std::size_t params::estimate_bytes(std::size_t columns) const
{
    std::size_t bytes = 0;
    internal::call(oif_detector_estimate_bytes, &values_, columns, &bytes);
    return bytes;
}

inline void check_rules(std::string_view text)
{
    internal::call(oif_rules_check, text.data(), text.size());
}

// ---- Detectors ----

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

inline oif_detector *detector::own() const
{
    return internal::owned(get());
}

inline const double *detector::row_of(numbers row) const
{
    internal::require(row.size() == columns(), row.size(), columns());
    return row.data();
}

inline std::size_t detector::count_of(numbers rows) const
{
    internal::require(rows.size() % columns() == 0, rows.size(), columns());
    return rows.size() / columns();
}

inline void detector::learn(numbers row)
{
    internal::call(oif_detector_learn, own(), row_of(row));
}

inline double detector::score(numbers row) const
{
    double score = 0;
    internal::call(oif_detector_score, own(), row_of(row), &score);
    return score;
}

inline double detector::learn_score(numbers row)
{
    double score = 0;
    internal::call(oif_detector_learn_score, own(), row_of(row), &score);
    return score;
}

inline double detector::score_learn(numbers row)
{
    double score = 0;
    internal::call(oif_detector_score_learn, own(), row_of(row), &score);
    return score;
}

inline void detector::learn_rows(numbers rows)
{
    internal::call(oif_detector_learn_rows, own(), rows.data(), count_of(rows), columns());
}

inline std::vector<double> detector::score_rows(numbers rows) const
{
    std::vector<double> scores(count_of(rows));
    internal::call(oif_detector_score_rows, own(), rows.data(), scores.size(), columns(),
                   scores.data());
    return scores;
}

inline std::vector<double> detector::learn_score_rows(numbers rows)
{
    std::vector<double> scores(count_of(rows));
    internal::call(oif_detector_learn_score_rows, own(), rows.data(), scores.size(), columns(),
                   scores.data());
    return scores;
}

inline std::vector<double> detector::score_learn_rows(numbers rows)
{
    std::vector<double> scores(count_of(rows));
    internal::call(oif_detector_score_learn_rows, own(), rows.data(), scores.size(), columns(),
                   scores.data());
    return scores;
}

inline void detector::set_threads(unsigned threads)
{
    internal::call(oif_detector_set_threads, own(), threads);
}

inline void detector::reset()
{
    oif_detector_reset(own());
}

inline std::vector<double> detector::explain(numbers row, std::size_t step_columns) const
{
    std::vector<double> shares(step_columns ? step_columns : columns()), scratch(columns());
    internal::call(oif_detector_explain, own(), row_of(row), shares.size(), shares.data(),
                   scratch.data());
    return shares;
}

inline std::vector<figure> detector::describe() const
{
    internal::collection<figure> figures;
    oif_detector_describe(
        own(),
        [](void *context, const char *name, double value) {
            static_cast<internal::collection<figure> *>(context)->add(
                [&] { return figure{name, value}; });
        },
        &figures);
    return figures.take();
}

inline void detector::check() const
{
    internal::call(oif_detector_check, own());
}

inline void detector::name_columns(const std::vector<std::string> &names)
{
    internal::require_names(names, columns());
    internal::call(oif_detector_name_columns, own(), internal::name_list(names).get());
}

inline std::vector<std::string> detector::column_names() const
{
    return internal::names_of(own(), columns(), oif_detector_column_name);
}

inline detector detector::clone() const
{
    oif_detector *copy = nullptr;
    internal::call(oif_detector_clone, own(), &copy);
    return detector(copy);
}

inline void detector::save(const std::string &path) const
{
    internal::call(oif_detector_save_file, own(), path.c_str());
}

inline std::vector<char> detector::save() const
{
    std::vector<char> snapshot(oif_detector_snapshot_bytes(own()));
    internal::call(oif_detector_save_memory, own(), static_cast<void *>(snapshot.data()),
                   snapshot.size());
    return snapshot;
}

// ---- Pipelines ----

inline pipeline::pipeline(const params &chosen, std::size_t columns, const params &options)
{
    oif_pipeline *made = nullptr;
    internal::call(oif_pipeline_new, chosen.get(), columns, options.get(), &made);
    own_.reset(made);
}

inline pipeline pipeline::around(detector &&one, const params &options, std::string_view key)
{
    oif_pipeline *made = nullptr;
    oif_detector *given = one.own();
    internal::call(oif_pipeline_new_around, &given, options.get(), key.data(), key.size(), &made);
    static_cast<void>(one.own_.release()); // the pipeline owns it
    return pipeline(made);
}

inline pipeline pipeline::load(const std::string &path)
{
    oif_pipeline *made = nullptr;
    internal::call(oif_pipeline_load_file, path.c_str(), &made);
    return pipeline(made);
}

inline pipeline pipeline::load(const std::vector<char> &snapshot)
{
    oif_pipeline *made = nullptr;
    internal::call(oif_pipeline_load_memory, static_cast<const void *>(snapshot.data()),
                   snapshot.size(), &made);
    return pipeline(made);
}

inline oif_pipeline *pipeline::own() const
{
    return internal::owned(get());
}

inline void pipeline::save(const std::string &path) const
{
    internal::call(oif_pipeline_save_file, own(), path.c_str());
}

inline std::vector<char> pipeline::save() const
{
    std::vector<char> snapshot(oif_pipeline_snapshot_bytes(own()));
    internal::call(oif_pipeline_save_memory, own(), static_cast<void *>(snapshot.data()),
                   snapshot.size());
    return snapshot;
}

inline pipeline pipeline::clone() const
{
    oif_pipeline *copy = nullptr;
    internal::call(oif_pipeline_clone, own(), &copy);
    return pipeline(copy);
}

inline oif_result pipeline::process(numbers row, std::string_view key, double seconds)
{
    oif_result result = {};
    internal::require(row.size() == columns(), row.size(), columns());
    internal::call(oif_pipeline_process_at, own(), key.data(), key.size(), seconds, row.data(),
                   &result);
    return result;
}

inline std::vector<oif_result> pipeline::process_rows(numbers rows,
                                                      const std::vector<std::string_view> &keys,
                                                      const std::vector<double> &seconds)
{
    internal::require(rows.size() % columns() == 0, rows.size(), columns());
    const std::size_t count = rows.size() / columns();
    if ((!keys.empty() && keys.size() != count) || (!seconds.empty() && seconds.size() != count))
        throw std::invalid_argument("oif: there must be a key and a time for each row, or none");
    std::vector<const char *> texts;
    std::vector<std::size_t> bytes;
    for (std::string_view key : keys) {
        texts.push_back(key.data());
        bytes.push_back(key.size());
    }
    std::vector<oif_result> results(count);
    std::size_t done = 0;
    oif_error why = {};
    if (oif_pipeline_process_rows(own(), rows.data(), count, columns(),
                                  keys.empty() ? nullptr : texts.data(), bytes.data(),
                                  seconds.empty() ? nullptr : seconds.data(), results.data(), &done,
                                  &why) != OIF_OK) {
        results.resize(done);
        throw rows_error(why, std::move(results));
    }
    return results;
}

inline table pipeline::process_table(numbers rows, const std::vector<double> &seconds)
{
    internal::require(rows.size() % columns() == 0, rows.size(), columns());
    const std::size_t count = rows.size() / columns();
    if (!seconds.empty() && seconds.size() != count)
        throw std::invalid_argument("oif: there must be a time for each row, or none");
    table made = {std::vector<oif_result>(count), {}};
    internal::call(oif_pipeline_process_table, own(), rows.data(), count, columns(),
                   seconds.empty() ? nullptr : seconds.data(),
                   static_cast<oif_row_function>(nullptr), static_cast<void *>(nullptr),
                   made.results.data(), &made.info);
    return made;
}

inline void pipeline::set_threads(unsigned threads)
{
    internal::call(oif_pipeline_set_threads, own(), threads);
}

inline std::vector<oif_attribution> pipeline::explain()
{
    std::vector<oif_attribution> attributions(oif_pipeline_learned_columns(own()));
    oif_pipeline_explain(own(), attributions.data());
    return attributions;
}

inline std::vector<oif_expected> pipeline::expected() const
{
    std::vector<oif_expected> ranges(oif_pipeline_learned_columns(own()));
    oif_pipeline_expected(own(), ranges.data());
    return ranges;
}

inline std::vector<double> pipeline::learned_row() const
{
    const double *row = oif_pipeline_learned_row(own());
    return row ? std::vector<double>(row, row + oif_pipeline_learned_columns(own()))
               : std::vector<double>();
}

inline std::string pipeline::recent_key() const
{
    std::size_t bytes = 0;
    const char *key = oif_pipeline_recent_key(own(), &bytes);
    return internal::copy_of(key, bytes);
}

inline std::optional<oif_episode_info> pipeline::episode(std::string_view key) const
{
    oif_episode_info info = {};
    if (!oif_pipeline_episode(own(), key.data(), key.size(), &info))
        return std::nullopt;
    return info;
}

inline std::vector<silence> pipeline::silent(double seconds)
{
    internal::collection<silence> found;
    oif_pipeline_silent(
        own(), seconds,
        [](void *context, const oif_silence *one) {
            static_cast<internal::collection<silence> *>(context)->add([&] {
                return silence{internal::copy_of(one->key, one->key_bytes), one->since,
                               one->allowed};
            });
        },
        &found);
    return found.take();
}

inline double pipeline::silence_after(std::string_view key, double seconds) const
{
    return oif_pipeline_silence_after(own(), key.data(), key.size(), seconds);
}

inline void pipeline::name_columns(const std::vector<std::string> &names)
{
    internal::require_names(names, columns());
    internal::call(oif_pipeline_name_columns, own(), internal::name_list(names).get());
}

inline std::vector<std::string> pipeline::column_names() const
{
    return internal::names_of(own(), columns(), oif_pipeline_column_name);
}

inline void pipeline::derive(std::size_t column, oif_derive kind, bool keep)
{
    internal::call(oif_pipeline_derive, own(), column, kind, keep);
}

inline void pipeline::derive(const std::vector<oif_derive_column> &derived)
{
    internal::call(oif_pipeline_derive_all, own(), derived.data(), derived.size());
}

inline std::vector<learned_column> pipeline::learned_columns() const
{
    std::vector<learned_column> list(oif_pipeline_learned_columns(own()));
    for (std::size_t i = 0; i < list.size(); i++)
        list[i].column = oif_pipeline_learned_from(own(), i, &list[i].kind);
    return list;
}

inline void pipeline::add_columns(std::size_t count, const std::vector<std::string> &names,
                                  const std::vector<oif_derive_column> &derived)
{
    if (!names.empty())
        internal::require_names(names, count);
    internal::call(oif_pipeline_add_columns, own(), count, internal::name_list(names).get(),
                   derived.data(), derived.size());
}

inline void pipeline::change(const std::string &option, double value)
{
    internal::call(oif_pipeline_change_option, own(), option.c_str(), value);
}

inline std::optional<key_info> pipeline::find_key(std::string_view key) const
{
    oif_key_info info = {};
    if (!oif_pipeline_key(own(), key.data(), key.size(), &info))
        return std::nullopt;
    return internal::copy_of(info);
}

inline std::vector<key_info> pipeline::list_keys() const
{
    std::vector<key_info> list;
    std::size_t position = 0;
    oif_key_info info = {};
    while (oif_pipeline_next_key(own(), &position, &info))
        list.push_back(internal::copy_of(info));
    return list;
}

inline void pipeline::remove_key(std::string_view key)
{
    internal::call(oif_pipeline_remove_key, own(), key.data(), key.size());
}

inline std::vector<oif_season_info> pipeline::seasons(std::string_view key) const
{
    std::vector<oif_season_info> list;
    oif_season_info info = {};
    while (oif_pipeline_season(own(), key.data(), key.size(), list.size(), &info))
        list.push_back(info);
    return list;
}

inline std::vector<char> pipeline::save_key(std::string_view key) const
{
    std::size_t bytes = 0;
    internal::call(oif_pipeline_key_snapshot_bytes, own(), key.data(), key.size(), &bytes);
    std::vector<char> snapshot(bytes);
    internal::call(oif_pipeline_save_key_memory, own(), key.data(), key.size(),
                   static_cast<void *>(snapshot.data()), snapshot.size());
    return snapshot;
}

inline void pipeline::save_key(std::string_view key, const std::string &path) const
{
    internal::call(oif_pipeline_save_key_file, own(), key.data(), key.size(), path.c_str());
}

namespace internal {
// The new name of a key: nullptr for "as it was", and never for "".
inline const char *new_name(const std::optional<std::string_view> &as)
{
    return !as ? nullptr : as->data() ? as->data() : "";
}
} // namespace internal

inline key_info pipeline::load_key(const std::vector<char> &snapshot,
                                   std::optional<std::string_view> as)
{
    oif_key_info info = {};
    internal::call(oif_pipeline_load_key_memory, own(), static_cast<const void *>(snapshot.data()),
                   snapshot.size(), internal::new_name(as), as ? as->size() : 0, &info);
    return internal::copy_of(info);
}

inline key_info pipeline::load_key(const std::string &path, std::optional<std::string_view> as)
{
    oif_key_info info = {};
    internal::call(oif_pipeline_load_key_file, own(), path.c_str(), internal::new_name(as),
                   as ? as->size() : 0, &info);
    return internal::copy_of(info);
}

inline void pipeline::exchange_detector(std::string_view key, detector &other)
{
    oif_detector *one = other.own();
    internal::call(oif_pipeline_exchange_detector, own(), key.data(), key.size(), &one);
    static_cast<void>(other.own_.release()); // the pipeline owns it
    other.own_.reset(one);
}

inline void pipeline::name_roles(const roles &names)
{
    internal::call(oif_pipeline_name_roles, own(), names.key ? names.key->c_str() : nullptr,
                   names.time ? names.time->c_str() : nullptr);
}

inline std::optional<roles> pipeline::column_roles() const
{
    const char *key = nullptr, *time = nullptr;
    if (!oif_pipeline_roles(own(), &key, &time))
        return std::nullopt;
    roles names;
    if (key)
        names.key = key;
    if (time)
        names.time = time;
    return names;
}

inline void pipeline::attach(const std::vector<char> &bytes)
{
    internal::call(oif_pipeline_attach, own(), static_cast<const void *>(bytes.data()),
                   bytes.size());
}

inline std::vector<char> pipeline::attachment() const
{
    std::size_t count = 0;
    const char *bytes = static_cast<const char *>(oif_pipeline_attachment(own(), &count));
    return std::vector<char>(bytes, bytes + count);
}

inline lost_models pipeline::lost() const
{
    const char *why = "";
    const std::uint64_t count = oif_pipeline_lost(own(), &why);
    return {count, why};
}

inline void pipeline::check() const
{
    internal::call(oif_pipeline_check, own());
}

inline void pipeline::set_rules(std::string_view text)
{
    internal::call(oif_pipeline_set_rules, own(), text.data(), text.size());
}

inline void pipeline::add_rules(std::string_view text)
{
    internal::call(oif_pipeline_add_rules, own(), text.data(), text.size());
}

inline std::vector<rule> pipeline::rules() const
{
    std::vector<rule> list;
    oif_rule_info info = {};
    while (oif_pipeline_rule(own(), list.size(), &info))
        list.push_back({info.text, info.held, info.first_seconds, info.last_seconds});
    return list;
}

inline void pipeline::keep_episodes(bool keep)
{
    internal::call(oif_pipeline_keep_episodes, own(), keep);
}

inline std::vector<past_episode> pipeline::past_episodes() const
{
    std::vector<past_episode> list;
    oif_past_episode one = {};
    while (oif_pipeline_past_episode(own(), list.size(), &one)) {
        list.push_back({internal::copy_of(one.key, one.key_bytes), one});
        list.back().details.key = nullptr;
    }
    return list;
}

inline std::string pipeline::propose(std::string_view key, std::uint64_t number) const
{
    char rule[OIF_RULE_BYTES];
    internal::call(oif_pipeline_propose, own(), key.data(), key.size(), number, &rule[0]);
    return &rule[0];
}

// ---- State files ----

inline state_file::state_file(const std::string &path)
{
    oif_state_file *made = nullptr;
    internal::call(oif_state_file_open, path.c_str(), &made);
    own_.reset(made);
}

inline oif_state_file *state_file::own() const
{
    return internal::owned(get());
}

inline void state_file::save(const detector &one)
{
    internal::call(oif_state_file_save, own(), one.own());
}

inline void state_file::save(const pipeline &one)
{
    internal::call(oif_state_file_save_pipeline, own(), one.own());
}

inline void state_file::update(pipeline &one)
{
    internal::call(oif_state_file_update_pipeline, own(), one.own());
}

inline std::optional<detector> state_file::load_detector() const
{
    oif_detector *made = nullptr;
    oif_error why = {};
    const oif_status status = oif_state_file_load(own(), &made, &why);
    if (status == OIF_END)
        return std::nullopt;
    if (status != OIF_OK)
        throw error(why);
    return detector(made);
}

inline std::optional<pipeline> state_file::load_pipeline()
{
    oif_pipeline *made = nullptr;
    oif_error why = {};
    const oif_status status = oif_state_file_load_pipeline(own(), &made, &why);
    if (status == OIF_END)
        return std::nullopt;
    if (status != OIF_OK)
        throw error(why);
    return pipeline(made);
}

inline void state_file::keep_evicted(pipeline &one)
{
    internal::call(oif_state_file_keep_evicted, own(), one.own());
}

// ---- Incidents ----

inline incidents::incidents(const params &options)
{
    oif_incidents *made = nullptr;
    internal::call(oif_incidents_new, options.get(), &made);
    own_.reset(made);
}

inline incidents incidents::load(const std::vector<char> &snapshot)
{
    oif_incidents *made = nullptr;
    internal::call(oif_incidents_load_memory, static_cast<const void *>(snapshot.data()),
                   snapshot.size(), &made);
    return incidents(made);
}

inline oif_incidents *incidents::own() const
{
    return internal::owned(get());
}

inline std::vector<char> incidents::save() const
{
    std::vector<char> snapshot(oif_incidents_snapshot_bytes(own()));
    internal::call(oif_incidents_save_memory, own(), static_cast<void *>(snapshot.data()),
                   snapshot.size());
    return snapshot;
}

inline oif_incident_place incidents::report(report_function function, const incident_event &event)
{
    oif_incident_event given = {};
    given.stream = event.stream.c_str();
    given.key = event.key.data();
    given.key_bytes = event.key.size();
    given.column = event.column.c_str();
    given.seconds = event.seconds;
    given.reason = event.reason.c_str();
    given.severity = event.severity;
    given.episode = event.episode;
    oif_incident_place place = {};
    internal::call(function, own(), &given, &place);
    return place;
}

inline oif_incident_place incidents::begin(const incident_event &event)
{
    return report(oif_incidents_begin, event);
}

inline oif_incident_place incidents::end(const incident_event &event)
{
    return report(oif_incidents_end, event);
}

inline std::vector<std::uint64_t> incidents::numbers() const
{
    std::vector<std::uint64_t> list;
    while (const std::uint64_t number = oif_incidents_number(own(), list.size()))
        list.push_back(number);
    return list;
}

inline void incidents::check() const
{
    internal::call(oif_incidents_check, own());
}

inline std::optional<incident> incidents::find(std::uint64_t number) const
{
    incident found = {};
    if (!oif_incidents_info(own(), number, &found.info))
        return std::nullopt;
    oif_incident_member m = {};
    while (oif_incidents_member(own(), number, found.members.size(), &m))
        found.members.push_back({std::string(m.key, m.key_bytes),
                                 std::string(m.column, m.column_bytes),
                                 std::string(m.reason, m.reason_bytes),
                                 std::string(m.stream, m.stream_bytes), m.seconds, m.end_seconds,
                                 m.severity, m.episode});
    oif_incident_shared one = {};
    while (oif_incidents_shared(own(), number, found.shared.size(), &one))
        found.shared.push_back({one.is_column, std::string(one.text, one.bytes)});
    return found;
}

} // namespace oif

#endif
