// oif.hpp, as a program uses it: each part once, what fails, and objects that were moved from.
#include <oif.hpp>

#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace {

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
    oif::params made = oif::params::pipeline_options().set("motion", "off").set("learn", "normal");
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
    require(two.score_learn_rows(all) == scores);
    three.learn_rows(all);
    require(three.score_rows(all) == one.score_rows(all));
    require(throws<std::invalid_argument>([&] { three.learn_rows(oif::numbers(&all[0], 3)); }));
    require(throws<oif::error>([&] { three.set_threads(99); }));
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
    require(throws<oif::error>([&] { one.try_rules("mute reason=values"); }));
    one.keep_episodes();
    one.process_rows(rows(5000));
    const std::vector<oif::past_episode> past = one.past_episodes();
    require(past.size() >= 4 && past[0].key.empty());
    unsigned marked = 0;
    for (const oif::past_episode &each : past)
        if (each.details.column == 0 && each.details.direction < 0 && marked < 3) {
            one.mark({}, each.details.number, OIF_MARK_USELESS);
            marked++;
        }
    require(marked == 3);
    const std::vector<oif_proposal> proposals = one.proposals();
    require(proposals.size() == 1);
    const oif::rule_trial trial = one.try_rules(proposals[0].rule);
    require(trial.figures.useless_held == 3 && trial.is_held.size() == past.size());
    one.add_rules(proposals[0].rule);
    require(one.proposals().empty());

    const double outlier[] = {20, 0.5};
    require(one.process(outlier).rule == 1);
    require(one.rules().size() == 1 && one.rules()[0].held == 1);
    require(throws<oif::error>([&] { one.set_rules("hush"); }));
    one.set_rules("mute reason=stuck\nmute column=load change<20%\n");
    require(one.rules().size() == 2 && one.rules()[1].text == "mute column=load change<20%");
    require(throws<oif::error>([&] { one.mark("web-9", 1, OIF_MARK_REAL); }));
    one.change("alert_rate", 0.01);
    require(throws<oif::error>([&] { one.change("shingle", 2); }));
    oif::pipeline derived(oif::params(), 1);
    derived.derive(0, OIF_DERIVE_DIFF, true);
    require(derived.explain().size() == 2);
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
    }
    require(oif::pipeline::load("wrapper.oif").rows() == 100);
    require(oif::pipeline::load(one.save()).rows() == 100);
    std::remove("wrapper.oif");
}

void joined_episodes()
{
    oif::incidents all(oif::params::incident_options().set("quiet_seconds", 60));
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
    require(copy.numbers() == std::vector<std::uint64_t>{1});
    require(copy.find(1)->members[0].key == "rack-1/host-0" && !copy.find(2));
    const oif::incident found = copy.find(1).value();
    for (const oif::incident_member &member : found.members) {
        oif::incident_event event;
        event.key = member.key;
        event.seconds = 1100;
        event.episode = 1;
        copy.end(event);
    }
    require(copy.over().empty());
    copy.advance(2000);
    require(copy.over().size() == 1 && copy.over().empty());
    oif::incident_event late;
    late.seconds = HUGE_VAL;
    require(throws<oif::error>([&] { copy.begin(late); }));
}

void shared_traits()
{
    oif::incidents all;
    oif::incident_event event;
    for (int i = 0; i < 40; i++) { // singles over days
        event.key = "rack-" + std::to_string(i % 4) + "/host-" + std::to_string(i);
        event.seconds = 7200 * i;
        require(all.begin(event).is_new);
        event.seconds += 600;
        all.end(event);
    }
    std::uint64_t number = 0;
    for (int i = 0; i < 8; i++) { // then a rack
        event.key = "rack-2/h" + std::to_string(i);
        event.seconds = 400000 + 30 * i;
        number = all.begin(event).incident;
    }
    const oif::incident found = all.find(number).value();
    require(found.shared[0].text == "rack-2" && found.shared[0].kind == OIF_TRAIT_KEY_PART);
}

template <class Object, class Use> void moved(Object first, Use use)
{
    static_assert(!std::is_copy_constructible<Object>::value, "one owner");
    Object second = std::move(first);
    require(first.get() == nullptr); // NOLINT: what this test is about
    require(throws<std::logic_error>([&] { use(first); }));
    use(second);
    first = std::move(second);
    use(first);
    require(throws<std::logic_error>([&] { use(second); }));
}

void objects_that_were_moved_from()
{
    const double row[] = {1, 2};
    moved(oif::detector(oif::params(), 2), [&](oif::detector &one) { one.learn(row); });
    moved(oif::detector(oif::params(), 2), [](oif::detector &one) { one.clone(); });
    moved(oif::detector(oif::params(), 2), [](oif::detector &one) { one.save(); });
    moved(named(), [&](oif::pipeline &one) { one.process(row); });
    moved(named(), [](oif::pipeline &one) { one.explain(); });
    moved(named(), [](oif::pipeline &one) { one.rules(); });
    moved(named(), [](oif::pipeline &one) { one.rows(); });
    moved(oif::incidents(), [](oif::incidents &one) { one.numbers(); });
    moved(oif::state_file("moved.oif"), [](oif::state_file &one) { one.load_pipeline(); });
    moved(oif::state_file("moved.oif"), [](oif::state_file &one) {
        oif::pipeline from = named(), to = std::move(from);
        require(throws<std::logic_error>([&] { one.save(from); }));
        one.load_detector();
    });
}

} // namespace

int main()
{
    detectors();
    pipelines();
    rules_and_feedback();
    files();
    joined_episodes();
    shared_traits();
    objects_that_were_moved_from();
    std::puts("oif.hpp works");
}
