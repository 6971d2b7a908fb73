"""Several processes that compute one gradient: each takes some rows of the batch.

Parameters and gradients lie in shared memory. The first process is the leader: it adds the others'
gradients, in a fixed order, and alone changes parameters, while the others wait for their next task.
One thread a process, so that the sums never depend on timing.
"""

import multiprocessing
import os

import torch

_CONTEXT = multiprocessing.get_context("fork")
_WATCH_SECONDS = 5  # how often a waiting member looks whether its leader lives


class Team:
    def __init__(self, model, size):
        self.size = size
        self.parameters = list(model.parameters())
        count = sum(p.numel() for p in self.parameters)
        shared = torch.cat([p.detach().flatten() for p in self.parameters]).share_memory_()
        for p, view in zip(self.parameters, self._views(shared)):
            p.data = view
        self.gradients = torch.zeros(size, count).share_memory_()
        self.members = []  # (process, connection)

    def _views(self, flat):
        offset = 0
        for p in self.parameters:
            yield flat[offset:offset + p.numel()].view_as(p)
            offset += p.numel()

    def start(self, compute):
        """`compute(task, member)` leaves gradients in the parameters and returns a report."""
        self.compute = compute
        for member in range(1, self.size):
            ours, theirs = _CONTEXT.Pipe()
            process = _CONTEXT.Process(target=self._serve, args=(member, theirs, os.getpid()), daemon=True)
            process.start()
            self.members.append((process, ours))

    def gradient(self, task):
        """The gradients of a whole batch in the leader's parameters; the reports of all members."""
        for _, connection in self.members:
            connection.send(task)
        reports = [self._compute(task, 0)]
        reports += [connection.recv() for _, connection in self.members]
        for p, view in zip(self.parameters, self._views(self.gradients.sum(0))):
            p.grad = view
        return reports

    def stop(self):
        for process, connection in self.members:
            connection.send(None)
            process.join()

    def _compute(self, task, member):
        for p in self.parameters:
            p.grad = None
        report = self.compute(task, member)
        for p, view in zip(self.parameters, self._views(self.gradients[member])):
            view.copy_(p.grad)
        return report

    def _serve(self, member, connection, leader):
        while True:
            while not connection.poll(_WATCH_SECONDS):
                if os.getppid() != leader:
                    return
            task = connection.recv()
            if task is None:
                return
            connection.send(self._compute(task, member))
