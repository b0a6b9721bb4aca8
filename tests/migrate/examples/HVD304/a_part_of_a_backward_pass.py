# Kept: a part of a backward pass, and a test of it, train nothing

import unittest
import torch
from torch.autograd import Function

class Norm(Function):
    @staticmethod
    def backward(ctx, gradient):
        return extension.backward(gradient, ctx.eps)

class NormTest(unittest.TestCase):
    def test_sum(self):
        Norm.apply(torch.ones(2, requires_grad=True)).sum().backward()
