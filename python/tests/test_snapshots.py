import copy
import pickle
import subprocess
import zipfile

import pytest
from conftest import CHECKOUT, same_bits

import oif

COPIES = {
    **{f"pickle {n}": lambda x, n=n: pickle.loads(pickle.dumps(x, n)) for n in range(pickle.HIGHEST_PROTOCOL + 1)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": lambda x: x.clone(),
    "bytes": lambda x: oif.load(x.to_bytes()),
}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_goes_on_where_the_detector_was(how, rows, detector_class):
    detector = detector_class(seed=3)
    detector.column_names = ["a", "b", "c"]
    detector.learn(rows)
    twin = COPIES[how](detector)
    assert type(twin) is detector_class and twin is not detector
    assert twin.params == detector.params and twin.column_names == ("a", "b", "c")
    assert same_bits(detector.learn_score(rows), twin.learn_score(rows))
    twin.learn(rows)
    assert twin.rows_learned == detector.rows_learned + len(rows)


@pytest.mark.parametrize("how", [how for how in COPIES if how != "bytes"])
def test_a_detector_without_rows_can_be_copied(how, rows, detector_class):
    detector = detector_class(seed=3)
    detector.ignore_unknown = True
    twin = COPIES[how](detector)
    assert twin.params == detector.params and twin.ignore_unknown
    assert same_bits(detector.learn_score(rows), twin.learn_score(rows))


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_goes_on_where_the_pipeline_was(how, rows):
    pipeline = oif.Pipeline(oif.OnlineIsolationForest(seed=3), alert_rate=0.01, shingle=2)
    pipeline.column_names = ["a", "b", "c"]
    keys = [f"host {i % 3}" for i in range(len(rows))]
    pipeline.process(rows, keys)
    twin = COPIES[how](pipeline)
    assert twin.options == pipeline.options and twin.keys == 3 and twin.column_names == ("a", "b", "c")
    assert pipeline.process(rows, keys).tobytes() == twin.process(rows, keys).tobytes()


def test_own_attributes_of_a_subclass_are_kept(rows):
    for how in ("pickle 0", "pickle 4", "copy", "deepcopy", "clone"):
        detector = Named()
        detector.learn(rows)
        detector.place = "hall"
        twin = COPIES[how](detector)
        assert type(twin) is Named and twin.place == "hall" and twin.rows_learned == len(rows)


class Named(oif.Loda):
    place = ""


def test_the_number_of_threads_is_kept(rows):
    detector = oif.Loda()
    detector.threads = 2
    detector.learn(rows)
    assert pickle.loads(pickle.dumps(detector)).threads == 2
    assert detector.clone().threads == 1


def test_files_hold_detectors_and_pipelines(rows, detector_class, tmp_path):
    for made in (detector_class(seed=2), oif.Pipeline(detector_class(seed=2))):
        with pytest.raises(oif.DataError, match="nothing to save"):
            made.save(tmp_path / "state")
        made.learn(rows) if isinstance(made, oif.Detector) else made.process(rows)
        made.save(tmp_path / "state")
        made.save(str(tmp_path / "state"))
        loaded = oif.load(tmp_path / "state")
        assert type(loaded) is type(made) and loaded.to_bytes() == made.to_bytes()
        assert [path.name for path in tmp_path.iterdir()] == ["state"]


@pytest.mark.parametrize("make", [oif.OnlineIsolationForest, oif.Pipeline], ids=["detector", "pipeline"])
def test_snapshots_keep_names_that_are_text(make, tmp_path):
    def names_after(names):
        made = make()
        take = made.learn_one if isinstance(made, oif.Detector) else made.process_one
        take(dict.fromkeys(names, 1.0))
        made.save(tmp_path / "state")
        return oif.load(tmp_path / "state").column_names

    for names in (("flow", "heat"), ("", "Ä \U0001f30b", "a,b\n"), ("latin\udce4",)):
        assert names_after(names) == names
    for names in ((0, 1), ("a", 1), ("a\0b",), ("\ud800",), (("x", 1),)):
        assert names_after(names) is None


def test_names_that_were_taken_away_are_not_saved(rows):
    forest = oif.OnlineIsolationForest()
    forest.column_names = "abc"
    forest.learn(rows)
    assert oif.load(forest.to_bytes()).column_names == ("a", "b", "c")
    forest.column_names = None
    assert oif.load(forest.to_bytes()).column_names is None


def test_the_program_and_python_share_the_names(program, rows, tmp_path):
    header = "flow,heat,load\n"
    (tmp_path / "rows.csv").write_text(header + "".join(",".join(map(str, row)) + "\n" for row in rows.tolist()))
    subprocess.run(
        [program, "score", "--state", "state", "rows.csv"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL
    )
    pipeline = oif.load(tmp_path / "state")
    assert pipeline.column_names == ("flow", "heat", "load")
    pipeline.process_one({"load": 3.0, "flow": 1.0})
    pipeline.save(tmp_path / "state")
    told = subprocess.run(
        [program, "state", "inspect", "state"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    assert "heat" in told


def test_golden_snapshots_can_be_loaded():
    for path in (CHECKOUT / "tests" / "golden" / "snapshots").rglob("*.oif"):
        loaded = oif.load(path)
        loaded.check()
        rows = {"pipeline_updates": 23, "hst": 200, "rrcf": 200, "loda": 200}.get(path.stem, 600)
        if isinstance(loaded, oif.Pipeline):
            assert loaded.rows == rows and path.stem in ("pipeline", "pipeline_keys", "pipeline_moves", "pipeline_updates")
        else:
            assert loaded.rows_learned == rows and path.stem in (loaded.kind, loaded.params.get("forgetting"))


def test_bytes_that_are_no_snapshot_are_refused(rows, tmp_path):
    forest = oif.OnlineIsolationForest(num_trees=2, window_size=32, max_leaf_samples=4)
    forest.learn(rows)
    snapshot = forest.to_bytes()
    assert oif.load(memoryview(snapshot)).to_bytes() == oif.load(bytearray(snapshot)).to_bytes() == snapshot
    for wrong in (b"", b"x", b"nonsense" * 20, snapshot[:-1], snapshot + b"x", snapshot[1:]):
        with pytest.raises(oif.SnapshotError):
            oif.load(wrong)
    for i in range(0, len(snapshot), 7):
        with pytest.raises((oif.SnapshotError, MemoryError)):
            oif.load(snapshot[:i] + bytes([snapshot[i] ^ 0x40]) + snapshot[i + 1 :])
    for i in range(0, len(snapshot), 37):
        with pytest.raises(oif.SnapshotError):
            oif.load(snapshot[:i])


def test_damaged_pipelines_are_refused(rows):
    pipeline = oif.Pipeline(oif.Loda(num_projections=2, num_bins=4, window_size=8))
    pipeline.process(rows[:20], ["ab"[i % 2] for i in range(20)])
    snapshot = pipeline.to_bytes()
    for wrong in (snapshot[:-1], snapshot + b"x"):
        with pytest.raises(oif.SnapshotError):
            oif.load(wrong)
    for i in range(0, len(snapshot), 13):
        with pytest.raises((oif.SnapshotError, MemoryError)):
            oif.load(snapshot[:i] + bytes([snapshot[i] ^ 0x10]) + snapshot[i + 1 :])


def test_files_that_cannot_be_read_or_written(rows, tmp_path):
    forest = oif.OnlineIsolationForest()
    forest.learn(rows)
    with pytest.raises(OSError):
        oif.load(tmp_path / "missing")
    with pytest.raises(oif.FileError, match="missing"):
        forest.save(tmp_path / "missing" / "state")
    pipeline = oif.Pipeline()
    pipeline.process(rows)
    with pytest.raises(oif.FileError, match="missing"):
        pipeline.save(tmp_path / "missing" / "state")
    with pytest.raises((ValueError, TypeError)):
        forest.save("a\0b")


def test_a_snapshot_restores_only_fresh_objects(rows):
    forest = oif.OnlineIsolationForest()
    forest.learn(rows)
    with pytest.raises(RuntimeError, match="once"):
        forest._restore(forest.to_bytes())
    with pytest.raises(TypeError):
        forest._assign(forest)
    fresh = oif.Loda.__new__(oif.Loda)
    with pytest.raises(TypeError):
        fresh._assign(forest)
    with pytest.raises(TypeError):
        fresh._assign(object())


def test_snapshots_go_to_open_files_and_know_their_class(rows, tmp_path):
    forest, pipeline = oif.Loda(), oif.Pipeline()
    forest.learn(rows)
    pipeline.process(rows)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name, made in (("forest", forest), ("pipeline", pipeline)):
            with archive.open(name, "w") as file:
                made.save(file)
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert oif.Loda.load(archive.open("forest")).to_bytes() == forest.to_bytes()
        assert oif.Detector.load(archive.open("forest")).rows_learned == len(rows)
        assert oif.Pipeline.load(archive.open("pipeline")).rows == len(rows)
        with pytest.raises(oif.SnapshotKindError, match="that of a Loda, not of a Pipeline"):
            oif.Pipeline.load(archive.open("forest"))
