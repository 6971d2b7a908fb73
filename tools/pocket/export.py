"""Writes a trained Pocket as GGUF, and a sample of its logits for tests/pocket.

usage: export.py CHECKPOINT TOKENIZER TEMPLATE OUT.gguf [--f32]

Beside OUT.gguf comes OUT.logits: what the training code computes with the very weights of the file.
"""

import argparse
import pathlib
import random

import environment  # noqa: F401  (before torch)
import torch

import bpe
import data
import gguf
from model import EPSILON, TAPS, Config, Pocket

CONTEXT = 8192  # nearly twice what it was trained on
SAMPLE_TOKENS = 400
LIKELIEST = 8  # logits written for each token
# Largest difference of a logit: rounding of another order of summation, and ggml's 8-bit activations.
TOLERANCES = {False: 0.02, True: 1.0}


def metadata(config, tokenizer, template):
    own = {
        "block_count": config.layers,
        "context_length": CONTEXT,
        "embedding_length": config.embedding,
        "feed_forward_length": config.feed_forward,
        "attention.head_count": config.heads,
        "attention.head_count_kv": config.heads_kv,
        "attention.key_length": config.head_size,
        "attention.value_length": config.head_size,
        "attention.layer_norm_rms_epsilon": EPSILON,
        "rope.dimension_count": config.rope_dims,
        "rope.dimension_sections": list(config.rope_sections),
        "rope.freq_base": config.rope_base,
        "full_attention_interval": config.attention_interval,
        "ssm.conv_kernel": TAPS,
        "ssm.inner_size": config.delta_heads * config.delta_state,
        "ssm.state_size": config.delta_state,
        "ssm.time_step_rank": config.delta_heads,
        "ssm.group_count": config.delta_heads,
    }
    count = len(tokenizer.tokens)
    first_special = count - len(tokenizer.specials)
    # 1: text, 3: control (never shown), 4: special, but text that a client may see
    kinds = [1] * first_special + [3 if token.startswith("<|") else 4 for token in tokenizer.specials]
    return {
        "general.architecture": "qwen35",
        "general.type": "model",
        "general.name": "Pocket",
        "general.license": "apache-2.0",
        **{f"qwen35.{key}": value for key, value in own.items()},
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen35",
        "tokenizer.ggml.tokens": tokenizer.tokens,
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.merges": [" ".join(pair) for pair in tokenizer.merges],
        "tokenizer.ggml.eos_token_id": tokenizer.ids["<|im_end|>"],
        "tokenizer.ggml.padding_token_id": tokenizer.ids["<|endoftext|>"],
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": template,
    }


def _layer_tensors(layer, config):
    """(name, parameter, is a matrix) of one layer, under the names of llama.cpp's qwen35."""
    yield "attn_norm.weight", layer.norm, False
    yield "post_attention_norm.weight", layer.post_norm, False
    mix = layer.mix
    if layer.attends:
        q, k, v = mix.project.split(mix.sizes)  # q and its gate alternate head by head, as ggml wants it
        yield "attn_q.weight", q, True
        yield "attn_k.weight", k, True
        yield "attn_v.weight", v, True
        yield "attn_output.weight", mix.out, True
        yield "attn_q_norm.weight", mix.q_norm, False
        yield "attn_k_norm.weight", mix.k_norm, False
    else:
        heads = config.delta_heads
        mixed, gate, alpha, beta = mix.project.split([3 * mix.inner, mix.inner, heads, heads])
        yield "attn_qkv.weight", mixed, True
        yield "attn_gate.weight", gate, True
        yield "ssm_alpha.weight", alpha, True
        yield "ssm_beta.weight", beta, True
        yield "ssm_conv1d.weight", mix.taps, False
        yield "ssm_dt.bias", mix.decay_bias, False
        yield "ssm_a", -mix.decay_log.exp(), False
        yield "ssm_norm.weight", mix.norm, False
        yield "ssm_out.weight", mix.out, True
    gate, up = layer.gate_up.chunk(2)
    yield "ffn_gate.weight", gate, True
    yield "ffn_up.weight", up, True
    yield "ffn_down.weight", layer.down, True


def tensors(model, quantized):
    """(name, array, in Q8_0) for gguf.write; the output matrix is the embedding."""
    yield "token_embd.weight", model.embedding.detach().numpy(), quantized
    yield "output_norm.weight", model.norm.detach().numpy(), False
    for i, layer in enumerate(model.layers):
        for name, values, is_matrix in _layer_tensors(layer, model.config):
            yield f"blk.{i}.{name}", values.detach().numpy(), quantized and is_matrix


def round_to_q8(model):
    """Gives the model the matrices that the Q8_0 file has. Rows are rounded by themselves, so it does
    not matter which matrices are one here and several there."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.ndim == 2 and not name.endswith("taps"):
                p.copy_(torch.from_numpy(gguf.dequantize(p.numpy())))


def sample(model, tokenizer, tolerance):
    """Text: the tolerance; then for each token its id, and the likeliest next ones with their logits."""
    tokens, _, _ = data.row(tokenizer, random.Random("logits"), SAMPLE_TOKENS)
    with torch.no_grad():
        logits = model(torch.tensor([tokens]))[0]
    lines = [f"tolerance {tolerance}"]
    for token, row in zip(tokens, logits):
        values, ids = row.topk(LIKELIEST)
        pairs = " ".join(f"{i} {value:.4f}" for i, value in zip(ids.tolist(), values.tolist()))
        lines.append(f"{token} {pairs}")
    return "\n".join(lines) + "\n"


def load(checkpoint, tokenizer):
    model = Pocket(Config(len(tokenizer.tokens)))
    model.load_state_dict(torch.load(checkpoint)["model"])
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("checkpoint", "tokenizer", "template", "out"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--f32", action="store_true", help="matrices in F32 instead of Q8_0")
    arguments = parser.parse_args()
    tokenizer = bpe.Tokenizer.load(arguments.tokenizer)
    model = load(arguments.checkpoint, tokenizer)
    quantized = not arguments.f32
    template = arguments.template.read_text()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    gguf.write(arguments.out, metadata(model.config, tokenizer, template), list(tensors(model, quantized)))
    if quantized:
        round_to_q8(model)
    arguments.out.with_suffix(".logits").write_text(sample(model, tokenizer, TOLERANCES[quantized]))
    print(f"{arguments.out}: {arguments.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
