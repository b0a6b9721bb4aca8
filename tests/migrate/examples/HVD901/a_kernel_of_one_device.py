# Kept: a kernel of one device: nothing is split over the ranks

from deepspeed.ops.sparse_attention import SparseSelfAttention

attention = SparseSelfAttention()
