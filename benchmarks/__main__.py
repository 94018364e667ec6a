"""Run the named benchmarks one after the other, or all of them; `--list` names them."""

from __future__ import annotations

import pkgutil
import runpy
import sys

import benchmarks


def main() -> int:
    names = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name != "__main__")
    wanted = sys.argv[1:]
    unknown = sorted(set(wanted) - set(names) - {"--list"})
    if unknown:
        print(f"There is no benchmark '{unknown[0]}'. There are: {', '.join(names)}.", file=sys.stderr)
        return 2
    if "--list" in wanted:
        print("\n".join(names))
        return 0
    for name in wanted or names:
        sys.argv = [f"benchmarks.{name}"]
        print(f"== {name}")
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
