"""The path of an agent's turn, as the terminal shows it."""

from __future__ import annotations

from rich.markup import escape

from dialoom.agent.agent import Turn
from dialoom.cli.console import out


def print_trace(turn: Turn) -> None:
    """The turn's path in a few dim lines: tags, state, what comes next, the examples, the time of each stage."""
    said = turn.trace.decided("route")
    path = " → ".join(dict.fromkeys(step["state"] for step in said["path"][-3:]))
    flag = f"  [yellow]{turn.route.fallback}: {escape(turn.route.reason)}[/]" if turn.route.fallback else ""
    out.print(f"[dim]  tags      {escape(', '.join(turn.tags) or '-')}[/]")
    out.print(f"[dim]  state     {escape(path or turn.state.name)}  ({turn.route.confidence:.2f})[/]{flag}")
    if turn.route.next_tags:
        likely = ", ".join(f"{tag} {share:.0%}" for tag, share in turn.route.next_tags[:3])
        out.print(f"[dim]  next      {escape(likely)}[/]")
    if spans := turn.trace.decided("describe").get("spans"):
        out.print(f"[dim]  described {escape(spans[0]['node'])} = {escape(spans[0]['value'])}[/]")
    for number, kept in enumerate(turn.trace.decided("evidence").get("kept", ())):
        label = "evidence" if number == 0 else "        "
        told = f"{kept['source']}#{kept['id']}  {kept['relevance'] or 0.0:.1f}  {kept['text']}"
        out.print(f"[dim]  {label}  {escape(told)}[/]", no_wrap=True, overflow="ellipsis")
    for number, example in enumerate(turn.examples):
        label = "examples" if number == 0 else "        "
        told = f"{example.dialogue.id}#{example.reply}  {example.score:.2f}  {example.reply_text}"
        out.print(f"[dim]  {label}  {escape(told)}[/]", no_wrap=True, overflow="ellipsis")
    times = ", ".join(f"{stage.name} {stage.milliseconds:.1f}" for stage in turn.trace.stages)
    calls = f"; {len(turn.trace.calls)} model calls" if turn.trace.calls else ""
    out.print(f"[dim]  {turn.trace.milliseconds:.1f} ms  ({times}){calls}[/]")
