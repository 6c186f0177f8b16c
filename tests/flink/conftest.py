import os


def pytest_configure(config):
    config.addinivalue_line("markers", "long: only tools/test/test_flink.sh --long runs it")


def pytest_collection_modifyitems(config, items):
    """Leaves the long tests out, and says so: pytest counts them as deselected."""
    left_out = [item for item in items if item.get_closest_marker("long") and "OIF_FLINK_LONG" not in os.environ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
