"""How well detectors do on labelled rows: ROC, precision and recall, and the table of oif.evaluate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._evaluate import Evaluation, area_under_roc, average_precision, precision_recall_curve, roc_curve
from ._plot_style import Style, axes_of, legend_above

LINES = ("#2f6f9f", "#d98c1f", "#2e8b57", "#d64545", "#8a63d2", "#4bb3c3", "#8c6d4f")


def _curves_of(labels: Any, scores: Any) -> tuple[Any, dict[str, Any]]:
    if isinstance(labels, Evaluation):
        return labels.labels, {one.detector: labels.scores[one.detector] for one in labels}
    if scores is None:
        raise ValueError("expected labels and scores, or what oif.evaluate returned")
    if not isinstance(scores, Mapping):
        named: Any = getattr(getattr(scores, "dtype", None), "names", None) or getattr(scores, "columns", ())
        scores = {"": scores["score"] if "score" in named else scores}
    truth = np.asarray(labels)
    return (truth < 0 if (truth < 0).any() else truth > 0), {str(name): np.asarray(one, float) for name, one in scores.items()}


def roc(labels: Any, scores: Any = None, ax: Any = None) -> Any:
    """Draw detections over false alarms.

    Args:
        labels: 1 for anomalies and 0 for others, or what oif.evaluate returned
        scores: of the rows, or what process returned for them; or several by name
        ax: the axes to draw into
    """
    truth, curves = _curves_of(labels, scores)
    ax, style = axes_of(ax, (5, 4.8))
    ax.plot([0, 1], [0, 1], color=style.quiet, linewidth=0.8, linestyle=(0, (4, 4)), zorder=1)
    for color, (name, score) in zip(LINES * 9, curves.items()):
        known = np.isfinite(score)
        false, true, _ = roc_curve(truth[known], score[known])
        area = area_under_roc(truth[known], score[known])
        ax.plot(false, true, color=color, linewidth=1.5, label=f"{name}  AUC {area:.3f}".strip())
    return _finish(ax, style, "false alarms, share of normal rows", "anomalies found")


def precision_recall(labels: Any, scores: Any = None, ax: Any = None) -> Any:
    """Draw precision over recall: how many alarms are right when that many anomalies are found.

    Args:
        labels: 1 for anomalies and 0 for others, or what oif.evaluate returned
        scores: of the rows, or what process returned for them; or several by name
        ax: the axes to draw into
    """
    truth, curves = _curves_of(labels, scores)
    ax, style = axes_of(ax, (5, 4.8))
    ax.axhline(truth.mean(), color=style.quiet, linewidth=0.8, linestyle=(0, (4, 4)), zorder=1)
    for color, (name, score) in zip(LINES * 9, curves.items()):
        known = np.isfinite(score)
        precision, recall = precision_recall_curve(truth[known], score[known])
        area = average_precision(truth[known], score[known])
        ax.step(np.append([0], recall), np.append(precision[:1], precision), color=color, linewidth=1.5,
                label=f"{name}  AP {area:.3f}".strip())  # fmt: skip
    return _finish(ax, style, "anomalies found (recall)", "alarms that are right (precision)")


def _finish(ax: Any, style: Style, x: str, y: str) -> Any:
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.01, 1.03)
    ax.set_xlabel(x, color=style.ink)
    ax.set_ylabel(y, color=style.ink)
    ax.legend(frameon=False, fontsize=9, labelcolor=style.ink, loc="best")
    return ax


def evaluation(table: Evaluation, ax: Any = None) -> Any:
    """Draw what oif.evaluate returned: AUC, AP, precision and recall of each detector, with the spread over the seeds.

    Args:
        table: what oif.evaluate returned
        ax: the axes to draw into
    """
    ax, style = axes_of(ax, (8, 1.1 + 0.5 * len(table)))
    measures = ("auc", "ap", "precision", "recall")
    for j, (measure, color) in enumerate(zip(measures, (LINES[0], LINES[2], LINES[1], LINES[3]))):
        at = np.arange(len(table))[::-1] + 0.24 - 0.16 * j
        values = [getattr(one, measure) for one in table]
        spreads = [getattr(one, f"{measure}_spread") for one in table]
        ax.errorbar(values, at, xerr=spreads, fmt="o", color=color, markersize=5, elinewidth=1.2,
                    label=measure.upper() if len(measure) < 4 else measure)  # fmt: skip
    ax.set_yticks(np.arange(len(table)), [f"{one.detector}\n{one.microseconds:.1f} us per row" for one in reversed(table)])
    ax.set_ylim(-0.6, len(table) - 0.4)
    ax.set_xlim(0, 1.02)
    for i in range(len(table)):
        ax.axhspan(i - 0.4, i + 0.4, color=style.faint, zorder=0, linewidth=0)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"precision and recall at an alert rate of {table.alert_rate:g}", color=style.ink)
    legend_above(ax, style)
    return ax
