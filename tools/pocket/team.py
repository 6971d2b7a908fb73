"""Several processes that compute one gradient: each takes some rows of the batch.

Parameters and gradients lie in shared memory. The first process is the leader: it adds the others'
gradients, in a fixed order, and alone changes parameters. One thread a process, so that the sums
never depend on timing.
"""

import multiprocessing
import os

import torch

_CONTEXT = multiprocessing.get_context("fork")


class Team:
    def __init__(self, model, size):
        self.model, self.size = model, size
        self.parameters = list(model.parameters())
        count = sum(p.numel() for p in self.parameters)
        shared = torch.cat([p.detach().flatten() for p in self.parameters]).share_memory_()
        for p, view in zip(self.parameters, self._views(shared)):
            p.data = view
        self.gradients = torch.zeros(size, count).share_memory_()
        self.barrier = _CONTEXT.Barrier(size)
        self.task = _CONTEXT.SimpleQueue()
        self.reports = _CONTEXT.SimpleQueue()
        self.members = []

    def _views(self, flat):
        offset = 0
        for p in self.parameters:
            yield flat[offset:offset + p.numel()].view_as(p)
            offset += p.numel()

    def start(self, compute):
        """`compute(task, member)` leaves gradients in the parameters and returns a report."""
        self.compute = compute
        for member in range(1, self.size):
            process = _CONTEXT.Process(target=self._serve, args=(member, os.getpid()), daemon=True)
            process.start()
            self.members.append(process)

    def gradient(self, task):
        """The gradients of a whole batch in the leader's parameters; the reports of all members."""
        for _ in self.members:
            self.task.put(task)
        reports = [self._compute(task, 0)]
        self._wait()
        reports += [report for _, report in sorted(self.reports.get() for _ in self.members)]
        for p, view in zip(self.parameters, self._views(self.gradients.sum(0))):
            p.grad = view
        return reports

    def stop(self):
        for _ in self.members:
            self.task.put(None)
        for process in self.members:
            process.join()

    def _compute(self, task, member):
        for p in self.parameters:
            p.grad = None
        report = self.compute(task, member)
        for p, view in zip(self.parameters, self._views(self.gradients[member])):
            view.copy_(p.grad)
        return report

    def _serve(self, member, leader):
        while (task := self.task.get()) is not None and os.getppid() == leader:
            self.reports.put((member, self._compute(task, member)))
            self._wait()

    def _wait(self):
        # Long enough for any step; a member that died must not hang the others for ever.
        self.barrier.wait(timeout=600)
