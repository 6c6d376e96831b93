"""One thread scores one image at a time: memory stays flat, and the server answers /health meanwhile."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

Given = TypeVar("Given")
Found = TypeVar("Found")


class Scorer(Generic[Given, Found]):
    """A function in a daemon thread, which the end of the program does not wait for."""

    def __init__(self, function: Callable[[Given], Found]) -> None:
        self._function = function
        self._queue: SimpleQueue[tuple[Given, Future[Found]]] = SimpleQueue()
        Thread(target=self._work, name="scorer", daemon=True).start()

    async def __call__(self, given: Given) -> Found:
        future: Future[Found] = Future()
        self._queue.put((given, future))
        return await asyncio.wrap_future(future)

    def _work(self) -> None:
        while True:
            given, future = self._queue.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(self._function(given))
            except BaseException as error:
                future.set_exception(error)
            del given, future  # an image is not kept until the next one comes
