"""The words in which a claim is judged: a study decides by them, reports and the terminal colour them."""

from typing import Literal, get_args

Answer = Literal["confirmed", "not confirmed", "cannot be seen at this scale"]
CONFIRMED: Answer = "confirmed"
REFUTED: Answer = "not confirmed"
UNSEEN: Answer = "cannot be seen at this scale"
ANSWERS: tuple[Answer, ...] = get_args(Answer)
