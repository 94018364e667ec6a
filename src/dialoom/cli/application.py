"""The commands put together, and the one place where errors become exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer
from typer.exceptions import TyperException

from dialoom.cli import (
    bench,
    chat,
    conform,
    demo,
    diff,
    eval,  # noqa: A004
    eval_knowledge,
    eval_multiwoz,
    eval_multiwoz_policy,
    flow,
    formats,
    init,
    learn,
    replay,
    route,
    rules,
    say,
    show,
    test,
    train,
)
from dialoom.errors import DialoomError, UsageError

DONE, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130
STOPPED = "dialoom: interrupted; nothing was left half written."

app = typer.Typer(
    name="dialoom",
    help="Conversational agents that stay on course, learned from your transcripts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("init")(init.init_command)
app.command("formats")(formats.formats_command)
app.command("learn", help=learn.HELP)(learn.learn_command)
app.command("show")(show.show_command)
app.command("chat")(chat.chat_command)
app.command("route")(route.route_command)
app.command("diff")(diff.diff_command)
app.command("conform")(conform.conform_command)
eval.app.command("multiwoz", epilog=eval_multiwoz.EXAMPLE)(eval_multiwoz.multiwoz_command)
eval.app.command("knowledge", epilog=eval_knowledge.EXAMPLE)(eval_knowledge.knowledge)
eval.app.command("multiwoz-policy", epilog=eval_multiwoz_policy.EXAMPLE)(eval_multiwoz_policy.multiwoz_policy_command)
app.add_typer(eval.app, name="eval")
app.add_typer(train.app, name="train")
app.command("say")(say.say_command)
app.add_typer(rules.app, name="rules")
app.add_typer(bench.app, name="bench")
app.add_typer(flow.flow_app, name="flow")
app.command("test")(test.run_tests)
app.command("replay")(replay.replay_command)
app.command("demo")(demo.demo_command)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and say how it ended."""
    os.environ.setdefault("TQDM_DISABLE", "1")  # libraries would draw their bars into ours
    try:
        code = app(list(arguments), prog_name="dialoom", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # newer versions of typer catch the interrupt themselves
            return _told(STOPPED, INTERRUPTED)
        return code if isinstance(code, int) else DONE
    except DialoomError as error:
        return _told(f"dialoom: {error}", MISTAKE if isinstance(error, UsageError) else FAILED)
    except TyperException as error:
        if hasattr(error, "show"):  # usage errors print themselves with the command's usage line
            error.show()
            return error.exit_code
        return _told(f"dialoom: {error}", error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _told(STOPPED, INTERRUPTED)
    except BrokenPipeError:  # the reader of our output went away: nobody is left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


def _told(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code
