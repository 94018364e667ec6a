"""Makes the model beside it (needs the onnx package): a token's vector is its row of a fixed table.

python tests/encoders/tiny/make.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

FOLDER = Path(__file__).parent
WORDS = ["[UNK]", "[CLS]", "[SEP]", "where", "is", "my", "parcel", "money", "back", "word"]


def main() -> None:
    table = np.random.default_rng(0).normal(size=(len(WORDS), 6)).round(2).astype(np.float32)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])
    mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "length"])
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", 6])
    graph = helper.make_graph(nodes, "tiny", [ids, mask], [output], [numpy_helper.from_array(table, "table")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, FOLDER / "model.onnx")

    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(FOLDER / "tokenizer.json"))


if __name__ == "__main__":
    main()
