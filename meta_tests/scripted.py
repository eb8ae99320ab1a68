"""A scripted model: it says, token by token, what a script gives for the prompt it reads.

It behaves as the source's 8B model is reported to: it answers and stops in its own template only,
and fences its JSON. The claims are measured on it through their own measures, to show that
nothing in them is fitted to the embedded model.
"""

import json
from dataclasses import dataclass, field

import torch

from fixtures import prompts
from fixtures.chat_formats import QWEN3
from fixtures.needs import Need
from fixtures.tokenizers import qwen3

END = 151645
SCORES = 151936
RAMBLES = qwen3().encode(" and then it goes on and on")


@dataclass
class Rows:
    """A 'cache' of texts: what each row of the batch has read."""

    read: list[list[int]] = field(default_factory=list)

    def get_seq_length(self):
        return len(self.read[0]) if self.read else 0

    def batch_select_indices(self, index):
        self.read = [self.read[i] for i in index.tolist()]

    def batch_repeat_interleave(self, copies):
        self.read = [list(row) for row in self.read for _ in range(copies)]


class QwenLike:
    """An engine over the script; the parts of the protocol that behaviour claims use."""

    name, device, cache_kind, tokenizer, vocabulary = "scripted", "cpu", "dynamic", qwen3(), SCORES
    offers = frozenset(Need) - {Need.CUDA}
    end_ids = frozenset({END})

    def render(self, chat):
        return self.encode(QWEN3.template.render(chat))

    def encode(self, text):
        return qwen3().encode(text)

    def decode(self, ids):
        return qwen3().decode(ids)

    def new_cache(self, *, length):
        return Rows()

    def forward(self, ids, cache=None, *, mask=None, positions=None, last_only=False):
        if not cache.read:
            cache.read = [[] for _ in ids]
        for row, new in zip(cache.read, ids.tolist(), strict=True):
            row.extend(new)
        scores = torch.zeros(len(cache.read), 1, SCORES)
        for number, row in enumerate(cache.read):
            scores[number, 0, self._next(row)] = 50.0
        return scores

    def settle(self):
        pass

    def _next(self, row):
        text = self.decode(row)
        head, opened, said = text.rpartition("</think>\n\n")
        if not opened:
            return RAMBLES[len(row) % len(RAMBLES)]
        reply = [*self.encode(self.script(head)), END]
        return reply[min(len(self.encode(said)), len(reply) - 1)]

    def script(self, prompt):
        """The reply to a rendered prompt."""
        asked = prompt.rpartition("<|im_start|>user\n")[2]
        for question in prompts.read("questions")["question"]:
            if question["ask"] in asked:
                return question["answers"][0]
        for case in prompts.read("service_logs")["case"]:
            if case["log"] in asked:
                record = json.dumps(case["record"])
                strict = prompts.read("service_logs")["strict_system"] in prompt
                return record if strict else f"```json\n{record}\n```"
        return "I do not know."
