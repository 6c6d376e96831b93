"""Read damaged files, many of them: python tests/hostile/fuzz.py --count 10000 --seed 1 [--of federation]"""

import sys
from argparse import ArgumentParser
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "unit"))  # where small files in the official formats are made

import fuzz_federation
import fuzz_forged
from fuzzing import BAD, TARGETS, fuzz, table

GROUPS = {"everything": list(TARGETS), "federation": [*fuzz_federation.TARGETS, *fuzz_forged.TARGETS]}


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="damaged files in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--of", choices=GROUPS, default="everything", help="a group of targets")
    parser.add_argument("--only", choices=TARGETS, action="append", help="a target; may be given several times")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="also what was read with other content, one by one")
    given = parser.parse_args()
    cases = list(fuzz(given.only or GROUPS[given.of], given.count, given.seed, given.workers))
    print(table(cases))
    bad = [case for case in cases if case.kind in BAD]
    shown = [case for case in cases if case.kind == "other"] if given.show else []
    for case in (*shown, *bad[:20]):
        print(f"\n{case.kind}: {case.target}, seed {case.seed}, number {case.number}\n{case.text}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
