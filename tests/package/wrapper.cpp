// oif.hpp, as a program uses it: each part once, what fails, and objects that were moved from.
#include <oif.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <type_traits>

namespace
{

#define require(what) check((what), #what, __LINE__)

void check(bool is_true, const char *what, int line)
{
    if (is_true)
        return;
    std::fprintf(stderr, "wrapper.cpp:%d: not true: %s\n", line, what);
    std::exit(1);
}

template <class Exception, class Function> bool throws(Function function)
{
    try {
        function();
    } catch (const Exception &) {
        return true;
    }
    return false;
}

// A number that looks random, from 0 to 1.
double noise(unsigned i)
{
    i = (i ^ i >> 16) * 0x45d9f3bu;
    i = (i ^ i >> 16) * 0x45d9f3bu;
    return (i ^ i >> 16) / 4294967296.0;
}

std::vector<double> rows(unsigned count)
{
    std::vector<double> made;
    for (unsigned i = 0; i < count; i++) {
        made.push_back(i > 2000 && i % 500 == 0 ? 20 : 100 + noise(i));
        made.push_back(noise(i + 1000000));
    }
    return made;
}

oif::params options()
{
    oif::params made = oif::params::pipeline_options().set("moves", "off").set("learn", "normal");
    return made.set("find_season", "off");
}

oif::pipeline named()
{
    oif::pipeline made(oif::params(), 2, options());
    made.name_columns({"latency", "load"});
    return made;
}

void detectors()
{
    oif::detector one(oif::params("online-iforest"), 2), two = one.clone(), three = one.clone();
    const std::vector<double> all = rows(600);
    std::vector<double> scores;
    for (std::size_t i = 0; i < all.size(); i += 2)
        scores.push_back(one.score_learn(oif::numbers(&all[i], 2)));
    two.set_threads(2);
    require(oif::numbers(all).data() == all.data() && oif::numbers(all).size() == all.size());
    require(two.score_learn_rows(all) == scores);
    three.learn_rows(all);
    require(three.score_rows(all) == one.score_rows(all));
    require(throws<std::invalid_argument>([&] { three.learn_rows(oif::numbers(&all[0], 3)); }));
    require(throws<oif::error>([&] { three.set_threads(99); }));
}

void questions_to_detectors()
{
    const oif::params small = oif::params("online-iforest").set("num_trees", 8);
    require(small.value("num_trees") == 8);
    require(throws<oif::error>([&] { small.value("trees"); }));
    require(!small.adds_columns() && oif::params().adds_columns());
    oif::detector one(small, 2);
    const std::vector<double> all = rows(600);
    one.learn_rows(all);
    require(one.memory_bytes() == small.estimate_bytes(2));
    require(one.parameters().value("num_trees") == 8);
    one.check();
    const std::vector<oif::figure> figures = one.describe();
    require(!figures.empty() && !figures[0].name.empty());
    const double outlier[] = {20, 0.5};
    const std::vector<double> shares = one.explain(outlier);
    require(shares.size() == 2 && shares[0] > shares[1]);
    require(one.explain(outlier, 1).size() == 1);
    require(one.column_names().empty());
    one.name_columns({"latency", "load"});
    require(one.column_names()[1] == "load");
    require(throws<std::invalid_argument>([&] { one.name_columns({"latency"}); }));
    require(oif::detector::load(one.save()).column_names() == one.column_names());
    require(one.learn_score_rows(all).size() == 600 && one.ready());
    one.reset();
    require(one.rows_learned() == 0);
    one.learn_score(outlier);
    require(one.rows_learned() == 1);
}

void pipelines()
{
    oif::pipeline one = named(), two = one.clone();
    const std::vector<double> all = rows(3000);
    const std::vector<std::string_view> keys(3000, "web-1");
    std::vector<double> seconds;
    for (int i = 0; i < 3000; i++)
        seconds.push_back(1.7e9 + 60 * i);
    unsigned anomalies = 0;
    for (std::size_t i = 0; i < keys.size(); i++)
        anomalies += one.process(oif::numbers(&all[2 * i], 2), keys[i], seconds[i]).anomaly;
    require(anomalies > 0);
    unsigned again = 0;
    for (const oif_result &result : two.process_rows(all, keys, seconds))
        again += result.anomaly;
    require(again == anomalies);
    require(one.save() == two.save());
    require(one.keys() == 1);
    require(!one.episode("web-2"));

    const double outlier[] = {20, 0.5};
    require(one.process(outlier, "web-1", 1.7e9 + 60 * 3000).anomaly);
    require(one.explain()[0].direction == -1);
    require(one.expected()[0].low > 99 && one.expected()[0].high < 102);
    require(one.episode("web-1")->column == 0);
    std::vector<oif::silence> silent = one.silent(1.7e9 + 60 * 6000);
    require(silent.size() == 1 && silent[0].key == "web-1");
    require(throws<std::invalid_argument>([&] { two.process_rows(all, {"too", "few"}); }));

    const double bad[] = {1, 2, 3, HUGE_VAL};
    const std::uint64_t before = two.rows();
    try {
        two.process_rows(bad);
        require(false);
    } catch (const oif::rows_error &why) {
        require(why.results.size() == 1 && why.details.line == 2 && two.rows() == before + 1);
    }
}

void rules_and_feedback()
{
    oif::pipeline one = named();
    require(throws<oif::error>([&] { one.propose({}, 1); }));
    one.keep_episodes();
    one.process_rows(rows(5000));
    const std::vector<oif::past_episode> past = one.past_episodes();
    require(past.size() >= 4 && past[0].key.empty());
    std::string rule;
    double largest = 0;
    for (const oif::past_episode &each : past)
        if (each.details.column == 0 && each.details.direction < 0 &&
            each.details.change > largest) {
            rule = one.propose({}, each.details.number);
            largest = each.details.change;
        }
    require(rule.compare(0, 12, "mute column=") == 0);
    one.add_rules(rule);

    const double outlier[] = {20, 0.5};
    require(one.process(outlier).rule == 1);
    require(one.rules().size() == 1 && one.rules()[0].held == 1);
    require(throws<oif::error>([&] { one.set_rules("hush"); }));
    one.set_rules("mute reason=stuck\nmute column=load change<20%\n");
    require(one.rules().size() == 2 && one.rules()[1].text == "mute column=load change<20%");
    require(throws<oif::error>([&] { one.propose("web-9", 1); }));
    one.change("alert_rate", 0.01);
    require(throws<oif::error>([&] { one.change("shingle", 2); }));
    oif::pipeline derived(oif::params(), 1);
    derived.derive(0, OIF_DERIVE_DIFF, true);
    require(derived.explain().size() == 2);
}

void tables()
{
    std::vector<double> all = rows(100);
    all[2 * 40] = 500;
    oif::pipeline one = named();
    require(throws<std::invalid_argument>([&] { one.process_table(all, {1, 2}); }));
    const oif::table judged = one.process_table(all);
    require(judged.info.rows == 100 && judged.results.size() == 100);
    require(judged.results[40].anomaly && judged.info.anomalies >= 1);
    require(one.rows() == 100);
    require(throws<oif::error>([&] { one.process_table(all); })); // it has rows
}

void more_columns()
{
    oif::pipeline one = named();
    one.process_rows(rows(100));
    require(one.learned_row().size() == 2 && one.column_names()[0] == "latency");
    one.add_columns(2, {"heat", "sent"}, {{3, OIF_DERIVE_RATE, false}});
    require(one.columns() == 4 && one.column_names()[3] == "sent");
    require(one.learned_columns().size() == 4);
    require(one.learned_columns()[3].kind == OIF_DERIVE_RATE);
    const double row[] = {100.5, 0.5, 20, 1000};
    one.process(row);
    require(one.learned_row()[2] == 20);
    require(throws<oif::error>([&] { one.add_columns(1, {"heat"}); }));
    require(throws<std::invalid_argument>([&] { one.add_columns(2, {"new"}); }));
    require(one.columns() == 4);

    oif::pipeline other(oif::params(), 2);
    other.derive({{0, OIF_DERIVE_LOG, true}, {1, OIF_DERIVE_CATEGORY, false}});
    require(other.learned_columns().size() == 3 && other.learned_columns()[1].column == 0);
    require(throws<oif::error>([&] { other.derive({{9, OIF_DERIVE_LOG, true}}); }));
    require(oif::category("north") == oif::category("north") && std::isnan(oif::category("")));
}

void keys_of_a_pipeline()
{
    std::remove("key.oif");
    oif::pipeline one = named(), two = named();
    const std::vector<double> all = rows(400);
    for (std::size_t i = 0; i < 400; i++)
        one.process(oif::numbers(&all[2 * i], 2), i % 2 ? "odd" : "even", 60.0 * double(i));
    require(one.recent_key() == "odd" && one.list_keys().size() == 2);
    require(one.find_key("odd")->details.rows == 200 && one.find_key("odd")->key == "odd");
    require(!one.find_key("none") && one.seasons("odd").empty());
    require(one.next_silence() > 60 * 400 && one.silence_after("odd", 24000) > 24000);

    require(two.load_key(one.save_key("odd")).key == "odd");
    require(two.load_key(one.save_key("odd"), "other").key == "other");
    one.save_key("even", "key.oif");
    require(two.load_key(std::string("key.oif")).details.rows == 200);
    require(two.load_key(std::string("key.oif"), "again").key == "again");
    std::remove("key.oif");
    const double row[] = {100.1, 0.1};
    require(two.process(row, "other").score == two.process(row, "odd").score);
    two.remove_key("other");
    require(two.keys() == 3);
    require(throws<oif::error>([&] { two.remove_key("other"); }));
    require(throws<oif::error>([&] { two.save_key("other"); }));

    oif::detector learned(oif::params(), 2), wrong(oif::params(), 3);
    learned.learn_rows(all);
    two.exchange_detector("new", learned);
    require(learned.rows_learned() == 0 && two.find_key("new"));
    require(throws<oif::error>([&] { two.exchange_detector("new", wrong); }));
    require(wrong.columns() == 3);
    two.check();
}

void pipelines_around_detectors()
{
    oif::detector learned(oif::params(), 2), wide(oif::params(), 3);
    learned.learn_rows(rows(400));
    oif::pipeline one = oif::pipeline::around(std::move(learned), options(), "web-1");
    require(learned.get() == nullptr); // NOLINT: what this test is about
    require(one.find_key("web-1").has_value());
    const oif::params pairs = oif::params::pipeline_options().set("shingle", 2);
    require(throws<oif::error>([&] { oif::pipeline::around(std::move(wide), pairs); }));
    require(wide.columns() == 3); // the caller still owns it
}

void what_a_pipeline_knows()
{
    oif::pipeline one = named();
    require(one.recent_key().empty() && one.learned_row().empty());
    require(one.parameters().value("num_trees") == oif::params().value("num_trees"));
    require(one.options().value("alert_rate") == 0.001);
    require(!one.keeps_episodes() && one.memory_bytes() > 0);
    require(one.evictions() + one.unmodelled_rows() + one.restarts() + one.kept() == 0);
    require(one.lost().count == 0 && one.lost().why.empty());
    require(!one.column_roles() && one.attachment().empty());
    one.name_roles({"host", std::nullopt});
    one.attach({'a', '\0', 'b'});
    one.limit_memory(1 << 20);
    const oif::pipeline copy = oif::pipeline::load(one.save());
    require(copy.column_roles()->key == "host" && !copy.column_roles()->time);
    require(copy.attachment() == std::vector<char>({'a', '\0', 'b'}));
    oif::check_rules("mute reason=stuck");
    require(throws<oif::error>([] { oif::check_rules("hush"); }));
}

void save_changes(oif::state_file &file, oif::pipeline &one)
{
    const double row[] = {1, 2};
    for (int i = 0; i < 10; i++)
        one.process(row, "host-" + std::to_string(i));
    file.update(one);
    require(one.log().is_log && one.log().updates == 0);
    one.process(row, "host-1");
    file.update(one);
    require(one.log().updates == 1 && file.load_pipeline()->save() == one.save());
}

void files()
{
    std::remove("wrapper.oif");
    oif::pipeline one = named();
    one.process_rows(rows(100));
    {
        oif::state_file file("wrapper.oif");
        require(!file.load_pipeline() && !file.load_detector());
        file.save(one);
        require(file.load_pipeline()->save() == one.save());
        require(throws<oif::error>([&] { file.load_detector(); }));
        require(throws<oif::error>([&] { file.keep_evicted(one); })); // without evicted=keep
        require(throws<oif::error>([] { oif::state_file other("wrapper.oif"); }));
        save_changes(file, one);
    }
    require(oif::pipeline::load("wrapper.oif").rows() == one.rows());
    require(oif::pipeline::load(one.save()).rows() == one.rows());
    std::remove("wrapper.oif");
}

void joined_episodes()
{
    oif::incidents all(oif::params::incident_options().set("window_seconds", 60));
    for (int i = 0; i < 8; i++) {
        oif::incident_event event;
        event.key = "rack-1/host-" + std::to_string(i);
        event.seconds = 1000 + 10 * i;
        event.column = "load";
        event.severity = i;
        event.episode = 1;
        require(all.begin(event).incident == 1);
    }
    oif::incidents copy = oif::incidents::load(all.save());
    require(copy.numbers() == std::vector<std::uint64_t>{1} && copy.size() == 1);
    copy.check();
    require(copy.find(1)->members[0].key == "rack-1/host-0" && !copy.find(2));
    const oif::incident found = copy.find(1).value();
    for (const oif::incident_member &member : found.members) {
        oif::incident_event event;
        event.key = member.key;
        event.seconds = 1100;
        event.episode = 1;
        const bool is_last = &member == &found.members.back();
        require(copy.end(event).is_over == is_last);
    }
    require(copy.size() == 0 && copy.find(1)->info.is_over);
    oif::incident_event late;
    late.seconds = HUGE_VAL;
    require(throws<oif::error>([&] { copy.begin(late); }));
}

void shared_traits()
{
    oif::incidents all;
    oif::incident_event event;
    for (int i = 0; i < 8; i++) {
        event.key = "rack-2/h" + std::to_string(i);
        event.seconds = 30 * i;
        event.reason = "too high";
        require(all.begin(event).is_new == (i == 0));
    }
    const oif::incident found = all.find(1).value();
    require(found.shared.size() == 1 && found.shared[0].text == "rack-2");
    require(!found.shared[0].is_column && found.members[7].reason == "too high");
}

// ---- Objects that were moved from ----

// Every use of an empty object throws; it can be moved, and used once it has been assigned to.
template <class Object> void moved(Object first, std::vector<std::function<void(Object &)>> uses)
{
    static_assert(!std::is_copy_constructible<Object>::value, "one owner");
    Object second = std::move(first);
    require(first.get() == nullptr); // NOLINT: what this test is about
    for (std::size_t i = 0; i < uses.size(); i++)
        if (!throws<std::logic_error>([&] { uses[i](first); })) {
            std::fprintf(stderr, "wrapper.cpp: use %zu of a moved-from object\n", i);
            std::exit(1);
        }
    Object third = std::move(first);
    require(third.get() == nullptr);
    first = std::move(second);
    uses[0](first);
    require(throws<std::logic_error>([&] { uses[0](second); }));
}

using D = oif::detector;
using P = oif::pipeline;
using F = oif::state_file;
using I = oif::incidents;
const double row_of_two[] = {1, 2};

void detectors_that_were_moved_from()
{
    const oif::numbers row = row_of_two;
    moved<D>(D(oif::params(), 2), {[&](D &one) { one.learn(row); },
                                   [&](D &one) { one.score(row); },
                                   [&](D &one) { one.learn_score(row); },
                                   [&](D &one) { one.score_learn(row); },
                                   [&](D &one) { one.learn_rows(row); },
                                   [&](D &one) { one.score_rows(row); },
                                   [&](D &one) { one.learn_score_rows(row); },
                                   [&](D &one) { one.score_learn_rows(row); },
                                   [](D &one) { one.set_threads(1); },
                                   [](D &one) { one.reset(); },
                                   [&](D &one) { one.explain(row); },
                                   [](D &one) { one.clone(); },
                                   [](D &one) { one.save("moved.oif"); },
                                   [](D &one) { one.save(); },
                                   [](D &one) { one.ready(); },
                                   [](D &one) { one.columns(); },
                                   [](D &one) { one.rows_learned(); },
                                   [](D &one) { one.memory_bytes(); },
                                   [](D &one) { one.parameters(); },
                                   [](D &one) { one.describe(); },
                                   [](D &one) { one.check(); },
                                   [](D &one) {
                                       one.name_columns({"a", "b"});
                                   },
                                   [](D &one) { one.column_names(); },
                                   [](D &one) { oif::pipeline::around(std::move(one)); },
                                   [](D &one) { named().exchange_detector({}, one); }});
}

void pipelines_that_were_moved_from()
{
    const oif::numbers row = row_of_two;
    const auto other = std::make_shared<D>(oif::params(), 2);
    moved<P>(named(), {[&](P &one) { one.process(row); },
                       [](P &one) { one.save("moved.oif"); },
                       [](P &one) { one.save(); },
                       [](P &one) { one.clone(); },
                       [&](P &one) { one.process_rows(row); },
                       [&](P &one) { one.process_table(row); },
                       [](P &one) { one.set_threads(1); },
                       [](P &one) { one.explain(); },
                       [](P &one) { one.expected(); },
                       [](P &one) { one.learned_row(); },
                       [](P &one) { one.recent_key(); },
                       [](P &one) { one.episode(); },
                       [](P &one) { one.silent(0); },
                       [](P &one) { one.next_silence(); },
                       [](P &one) { one.silence_after("a", 0); },
                       [](P &one) {
                           one.name_columns({"a", "b"});
                       },
                       [](P &one) { one.column_names(); },
                       [](P &one) { one.derive(0, OIF_DERIVE_LOG); },
                       [](P &one) {
                           one.derive({{0, OIF_DERIVE_LOG, true}});
                       },
                       [](P &one) { one.learned_columns(); },
                       [](P &one) { one.add_columns(1); },
                       [](P &one) { one.change("alert_rate", 0.1); },
                       [](P &one) { one.limit_memory(1); },
                       [](P &one) { one.find_key("a"); },
                       [](P &one) { one.list_keys(); },
                       [](P &one) { one.remove_key("a"); },
                       [](P &one) { one.seasons(); },
                       [](P &one) { one.save_key("a"); },
                       [](P &one) { one.save_key("a", "moved.oif"); },
                       [](P &one) { one.load_key(std::vector<char>()); },
                       [](P &one) { one.load_key(std::string("moved.oif")); },
                       [=](P &one) { one.exchange_detector("a", *other); },
                       [](P &one) { one.name_roles({}); },
                       [](P &one) { one.column_roles(); },
                       [](P &one) { one.attach({}); },
                       [](P &one) { one.attachment(); }});
    moved<P>(named(), {[](P &one) { one.set_rules(""); },
                       [](P &one) { one.add_rules(""); },
                       [](P &one) { one.rules(); },
                       [](P &one) { one.keep_episodes(); },
                       [](P &one) { one.keeps_episodes(); },
                       [](P &one) { one.past_episodes(); },
                       [](P &one) { one.propose({}, 1); },
                       [](P &one) { one.columns(); },
                       [](P &one) { one.rows(); },
                       [](P &one) { one.keys(); },
                       [](P &one) { one.parameters(); },
                       [](P &one) { one.options(); },
                       [](P &one) { one.memory_bytes(); },
                       [](P &one) { one.evictions(); },
                       [](P &one) { one.unmodelled_rows(); },
                       [](P &one) { one.restarts(); },
                       [](P &one) { one.kept(); },
                       [](P &one) { one.lost(); },
                       [](P &one) { one.log(); },
                       [](P &one) { one.check(); }});
    require(other->columns() == 2); // an exchange that fails takes nothing
}

void other_objects_that_were_moved_from()
{
    const auto detector = std::make_shared<D>(oif::params(), 2);
    const auto pipeline = std::make_shared<P>(named());
    moved<F>(F("moved.oif"),
             {[](F &one) { one.load_pipeline(); }, [](F &one) { one.load_detector(); },
              [=](F &one) { one.save(*detector); }, [=](F &one) { one.save(*pipeline); },
              [=](F &one) { one.update(*pipeline); },
              [=](F &one) { one.keep_evicted(*pipeline); }});
    F file("moved.oif");
    P empty = named(), full = std::move(empty);
    require(throws<std::logic_error>([&] { file.save(empty); })); // NOLINT
    require(throws<std::logic_error>([&] { file.update(empty); }));
    require(throws<std::logic_error>([&] { file.keep_evicted(empty); }));
    moved<I>(I(), {[](I &one) { one.numbers(); }, [](I &one) { one.save(); },
                   [](I &one) { one.begin({}); }, [](I &one) { one.end({}); },
                   [](I &one) { one.size(); }, [](I &one) { one.check(); },
                   [](I &one) { one.find(1); }});
    static_assert(std::is_trivially_copyable<oif::params>::value, "a move is a copy");
}

} // namespace

int main()
{
    detectors();
    questions_to_detectors();
    pipelines();
    tables();
    more_columns();
    keys_of_a_pipeline();
    pipelines_around_detectors();
    what_a_pipeline_knows();
    rules_and_feedback();
    files();
    joined_episodes();
    shared_traits();
    detectors_that_were_moved_from();
    pipelines_that_were_moved_from();
    other_objects_that_were_moved_from();
    std::puts("oif.hpp works");
}
