def pictures(checkout):
    return {}
