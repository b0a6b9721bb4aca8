import tensorflow as tf
from train import keep

keep('other.png', image)
