import nets
import train

if __name__ == "__main__":
    print(train.ready(train.spread(nets.Net()))(x))
