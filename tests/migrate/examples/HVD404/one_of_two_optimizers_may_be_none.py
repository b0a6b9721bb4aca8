# Changed: One of two optimizers may be None.

import torch

def train(batches, decoder, decoder_optimizer, encoder, encoder_optimizer):
    for x in batches:
        decoder_optimizer.zero_grad()
        decoder(encoder(x)).sum().backward()
        torch.nn.utils.clip_grad_norm_(decoder.parameters(), 5)
        decoder_optimizer.step()
        if encoder_optimizer is not None:
            torch.nn.utils.clip_grad_norm_(encoder.parameters(), 5)
            encoder_optimizer.step()

first = torch.optim.Adam(decoder.parameters())
second = torch.optim.Adam(encoder.parameters()) if fine_tune else None
train(batches, decoder, first, encoder, second)
