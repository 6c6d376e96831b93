"""One thread scores one image at a time: memory stays flat, and the server answers /health meanwhile."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class ScoringThread:
    """Runs functions in a daemon thread, which the end of the program does not wait for."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        Thread(target=self._work, name="scorer", daemon=True).start()

    async def __call__(self, function: Callable[[], T]) -> T:
        future: Future[T] = Future()
        self._queue.put((function, future))
        return await asyncio.wrap_future(future)

    def _work(self) -> None:
        while True:
            function, future = self._queue.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)
            del function, future  # an image is not kept until the next one comes
