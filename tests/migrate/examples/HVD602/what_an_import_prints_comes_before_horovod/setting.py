import torch

def show():
    print('a')

show()
path = 'a'
