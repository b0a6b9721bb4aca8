from timm.optim.lookahead import Lookahead

__all__ = ["Lookahead"]
