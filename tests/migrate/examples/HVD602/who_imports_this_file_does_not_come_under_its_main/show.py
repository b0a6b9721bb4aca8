from train import network

if __name__ == '__main__':
    print(network())
