"""Opening a base model: a local Hugging Face folder or one GGUF file, causal or sequence-to-sequence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile, MissingExtra, UsageError
from dialoom.training.settings import EMBEDDED


def opened(path: Path | str) -> tuple[Any, Any]:
    """The network, in float32, and its tokenizer; nothing is downloaded.

    Raises `MissingExtra`, `UsageError` where nothing is, `InvalidFile` for what holds no language model.
    """
    try:
        from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer
    except ImportError:
        raise MissingExtra("The unified model", "train") from None
    folder, more = _place(Path(path))
    more["local_files_only"] = True
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **more)
        config = AutoConfig.from_pretrained(str(folder), **more)
        family = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        safe = {} if "gguf_file" in more else {"use_safetensors": True}
        network = family.from_pretrained(str(folder), **safe, **more)
        if "gguf_file" in more:  # a model that remembers being quantised refuses to be trained and saved
            weights = network.state_dict()
            network = family.from_config(config)
            network.load_state_dict(weights)
    except ImportError as error:  # transformers asks for gguf, sentencepiece and the like by name
        raise MissingExtra(f"A model such as {path}", "train") from error
    except (OSError, ValueError, KeyError) as error:
        raise InvalidFile(path, f"not a causal or sequence-to-sequence language model ({error}).") from error
    if tokenizer.eos_token_id is None:
        raise InvalidFile(path, "its tokenizer has no end-of-sequence token, which ends a reply.")
    return network.float(), tokenizer


def _place(path: Path) -> tuple[Path, dict[str, Any]]:
    if str(path) == EMBEDDED:
        from dialoom.models.embedded import default_weights

        path = default_weights()
    if path.is_file() and path.suffix == ".gguf":
        return path.parent, {"gguf_file": path.name}
    if not path.is_dir():
        raise UsageError(
            f"There is no folder {path}.",
            hint=f"Give a local folder with a Hugging Face model, a .gguf file, or '{EMBEDDED}'.",
        )
    return path, {}
