#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Results of the lab in Python: load them, take quantiles, compare runs, plot.

	from onramp_lab import Run, compare, quantile
	runs = [Run(f"build/lab/papers/onramp-fig9-{seed}") for seed in (1, 2, 3)]
	runs[0].values["onramp_rct_mean"]	# of result.json
	runs[0].table()["rct_mean"]["fq"]	# of table.txt
	runs[0].series("load")["t_s"]		# a column of load.csv
	cdf = runs[0].histogram("fq", "workloads.1.requests.rct_us")
	quantile(cdf, 0.99)
	compare(runs, "onramp_rct_mean")	# median, lowest, highest

	onramp_lab.py csv DIR		every table and series of a run as CSV, in DIR/csv
	onramp_lab.py plot DIR FILE PATH...	distributions in FILE.json to FILE.svg; a PATH such as rtt_us

Only plots need matplotlib: tools/setup py.
"""
import csv
import json
import pathlib
import statistics
import sys


def number(text):
    """A number, or the text as it is."""
    try:
        return float(text)
    except ValueError:
        return text


def cdf(values):
    """The distribution of values: pairs (value, share up to it), as histogram() has them."""
    ordered = sorted(values)
    return [(value, (i + 1) / len(ordered)) for i, value in enumerate(ordered)]


def quantile(distribution, share):
    """The smallest value that has this share, of pairs (value, share up to it)."""
    if not distribution:
        raise ValueError("no values")
    return next((value for value, upto in distribution if upto >= share), distribution[-1][0])


class Run:
    """A run: a directory that lab/run wrote."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.result = self.json("result")
        self.values = self.result["values"]
        self.seed = self.result["seed"]

    def json(self, name):
        """NAME.json."""
        return json.loads((self.path / f"{name}.json").read_text())

    def get(self, name, path):
        """A value in NAME.json by its path, such as workloads.1.requests.rct_us.mean."""
        value = self.json(name)
        for key in path.split("."):
            value = value[int(key)] if isinstance(value, list) else value[key]
        return value

    def histogram(self, name, path):
        """The distribution of a dcload statistic: pairs (value, share up to it)."""
        bins = self.get(name, path)["histogram"]
        total, upto, pairs = sum(count for _, count in bins), 0, []
        for value, count in bins:
            upto += count
            pairs.append((value, upto / total))
        return pairs

    def series(self, name):
        """The columns of NAME.csv, by name."""
        with open(self.path / f"{name}.csv", encoding="utf8") as file:
            rows = list(csv.reader(file))
        return {head: [number(row[i]) for row in rows[1:]] for i, head in enumerate(rows[0])}

    def table(self, name="table"):
        """NAME.txt, a table with names above and left of it: rows by the first column."""
        lines = [line.split() for line in (self.path / f"{name}.txt").read_text().splitlines()]
        # Below the table there may be sentences, and below its head the units.
        return {row[0]: dict(zip(lines[0][1:], map(number, row[1:])))
                for row in lines[1:] if len(row) == len(lines[0]) and row[0] != "-"}

    def write_csv(self, to):
        """All tables, series and histograms as CSV in the directory TO; return the files."""
        to = pathlib.Path(to)
        to.mkdir(parents=True, exist_ok=True)
        written = []

        def write(name, rows):
            with open(to / f"{name}.csv", "w", encoding="utf8", newline="") as file:
                csv.writer(file).writerows(rows)
            written.append(f"{name}.csv")

        def histograms(value, name):
            if isinstance(value, dict) and isinstance(value.get("histogram"), list):
                write(name, [("value", "count"), *value["histogram"]])
            for key, inner in value.items() if isinstance(value, dict) else \
                    enumerate(value) if isinstance(value, list) else ():
                if key != "histogram" and isinstance(inner, (dict, list)):
                    histograms(inner, f"{name}.{key}")

        write("values", [("name", "value"), *self.values.items()])
        for file in sorted(self.path.iterdir()):
            if file.suffix in (".txt", ".series", ".cdf", ".rtts"):
                write(file.name if file.suffix != ".txt" else file.stem,
                      [line.split() for line in file.read_text().splitlines()])
            elif file.suffix == ".csv":
                write(f"{file.stem}.series", csv.reader(file.read_text().splitlines()))
            elif file.suffix == ".json" and file.stem not in ("result", "speed", "topology"):
                histograms(json.loads(file.read_text()), file.stem)
        return written


def compare(runs, name):
    """Median, lowest and highest of a value of several runs, such as three seeds."""
    values = [run.values[name] for run in runs]
    return statistics.median(values), min(values), max(values)


def plot_cdf(axes, pairs, label):
    """Draw a distribution on axes of matplotlib, or of anything that has step()."""
    axes.step([value for value, _ in pairs], [share for _, share in pairs], where="post", label=label)


def main(args):
    """The commands of the head."""
    if len(args) == 2 and args[0] == "csv":
        print("\n".join(Run(args[1]).write_csv(pathlib.Path(args[1]) / "csv")))
    elif len(args) > 3 and args[0] == "plot":
        from matplotlib.figure import Figure	# pylint: disable=import-outside-toplevel
        axes = Figure(figsize=(7, 4.5)).subplots()
        for path in args[3:]:
            plot_cdf(axes, Run(args[1]).histogram(args[2], path), path)
        axes.set(xlabel=args[3].rsplit(".", 1)[-1], ylabel="share", ylim=(0, 1))
        axes.legend()
        axes.figure.savefig(pathlib.Path(args[1]) / f"{args[2]}.svg")
    else:
        print(__doc__)
        return 255
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
