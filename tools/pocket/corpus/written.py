"""Wordings written one by one rather than composed, 3,000 of them (written/*.txt): for the last stages.

A line is `family or topic|S or Q|pattern`: S tells, Q asks. {v}, {x} and the like as in
wordings_people.py. Whoever wrote them had not seen the probes; wordings that were a probe's, too, have been
taken out (tests/test_corpus.py).
"""

import pathlib


def _read():
    made = {}
    for file in sorted((pathlib.Path(__file__).parent / "written").glob("*.txt")):
        for line in file.read_text().splitlines():
            about, kind, pattern = line.split("|", 2)
            made.setdefault((about, kind), []).append(pattern)
    return made


WRITTEN = _read()


def statements(family):
    return tuple(WRITTEN[family, "S"])


def questions(about):
    return tuple(WRITTEN[about, "Q"])
