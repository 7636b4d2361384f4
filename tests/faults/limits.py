def limit_cases(which): return []
def run_limit(h, c): return c, None
